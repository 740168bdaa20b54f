//! Addresses, names and files of known contents.

use super::*;
use crate::symbols::maps::{Mapping, Maps};
use object::read::ReadCache;
use std::fs;
use std::process::Command;
use std::time::Duration;

/// A function to be found.
#[inline(never)]
fn landmark() -> u64 {
    std::hint::black_box(4711)
}

fn own_maps() -> Maps {
    Maps::parse(&fs::read_to_string("/proc/self/maps").unwrap())
}

fn offset_of(mapping: &Mapping, address: u64) -> u64 {
    address - mapping.start + mapping.offset
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

#[test]
fn an_own_function_is_found_by_its_address() {
    assert_eq!(landmark(), 4711);
    let address = landmark as *const () as u64;
    let maps = own_maps();
    let mapping = maps.find(address).expect("the program's own instructions");
    assert!(mapping.inode > 0, "{mapping:?}");
    let cache = ReadCache::new(fs::File::open("/proc/self/exe").unwrap());
    let symbols = FileSymbols::parse(&cache).unwrap();
    let offset = offset_of(mapping, address);
    let symbol = symbols.at(offset + 1).unwrap();
    assert_eq!((&*symbol.name, symbol.offset), ("stacks::symbols::tests::landmark", 1));
    assert!(symbol.length > 1, "{symbol:?}");
    assert_eq!(symbols.at(offset), Some(Symbol { offset: 0, ..symbol.clone() }));
    assert_ne!(symbols.at(offset + symbol.length).map(|symbol| symbol.name), Some(symbol.name));
    assert_eq!(symbols.at(u64::MAX), None, "beyond the end of the file");
    // There and back.
    let (in_file, rest) = symbols.file_range(symbol.start).unwrap();
    assert_eq!(in_file, offset);
    assert!(rest >= symbol.length);
}

#[test]
fn a_file_that_takes_too_much_memory_has_no_symbols() {
    let cache = ReadCache::new(fs::File::open("/proc/self/exe").unwrap());
    let symbols = FileSymbols::parse_within(&cache, 1000).unwrap();
    assert!(symbols.table.entries.is_empty() && symbols.table.names.is_empty());
    assert!(!symbols.segments.is_empty(), "its code can still be read");
    // Nothing touches these bytes.
    let bytes = vec![0; READ_BYTES_MAX as usize + 1];
    let read = |size| Bounded(&bytes[..]).read_bytes_at(0, size).map(<[u8]>::len);
    assert_eq!(read(READ_BYTES_MAX), Ok(READ_BYTES_MAX as usize));
    assert_eq!(read(READ_BYTES_MAX + 1), Err(()));
}

#[test]
fn a_stripped_file_has_no_symbol_and_a_library_has_its_dynamic_symbols() {
    let directory = std::env::temp_dir().join(format!("knee-stripped-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let [source, program, library] =
        ["a.c", "a.out", "a.so"].map(|name| directory.join(name).display().to_string());
    fs::write(&source, "int offered(void) { return 7; }\nint main(void) { return offered(); }\n")
        .unwrap();
    let compile = |words: &[&str]| Command::new("cc").args(words).status();
    let made = compile(&["-s", "-o", &program, &source])
        .and_then(|_| compile(&["-s", "-shared", "-fPIC", "-o", &library, &source]));
    let Ok(made) = made else {
        fs::remove_dir_all(&directory).unwrap();
        return eprintln!("SKIPPED: there is no C compiler here");
    };
    assert!(made.success());
    let [program, library] = [program, library].map(|path| fs::read(path).unwrap());
    fs::remove_dir_all(&directory).unwrap();

    let entry = |bytes: &[u8], name: &str| {
        let file = File::parse(bytes).unwrap();
        let address = match name {
            "" => file.entry(),
            name => {
                let mut symbols = file.dynamic_symbols();
                symbols.find(|symbol| symbol.name() == Ok(name)).unwrap().address()
            }
        };
        let holds = |segment: &_| ObjectSegment::address(segment) <= address;
        let segment = file.segments().filter(holds).last().unwrap();
        address - segment.address() + segment.file_range().0
    };
    let address = entry(&program, "");
    assert_eq!(FileSymbols::parse(&program[..]).unwrap().at(address), None);
    let address = entry(&library, "offered");
    let symbols = FileSymbols::parse(&library[..]).unwrap();
    for offset in [2, 0] {
        let symbol = symbols.at(address + offset).unwrap();
        assert_eq!((&*symbol.name, symbol.offset), ("offered", offset));
    }
}

#[test]
fn what_is_no_program_is_refused() {
    assert!(FileSymbols::parse(&b"#!/bin/sh\n"[..]).is_err());
    assert!(FileSymbols::parse(&b""[..]).is_err());
    let whole = fs::read("/proc/self/exe").unwrap();
    // Whatever is cut off, there is an answer.
    for length in [20, 64, 1000, whole.len() / 2] {
        if let Ok(symbols) = FileSymbols::parse(&whole[..length]) {
            assert_eq!(symbols.at(u64::MAX), None, "{length}");
        }
    }
}

#[test]
fn the_kernels_function_is_the_nearest_below() {
    let text = "\
ffffffff81000000 T _stext\n\
ffffffff81000100 t __pi_do_a\n\
ffffffff81000100 t do_a\n\
ffffffff81000180 d some_data\n\
ffffffff81000200 T do_b\n\
ffffffffc0000000 t in_a_module [nfs]\n\
ffffffff81000150 t late\n";
    let symbols = KernelSymbols::parse(text.as_bytes(), later());
    let at = |address: u64| {
        let (symbol, module) = symbols.at(address)?;
        Some(format!("{}+{} {}", symbol.name, symbol.offset, module.unwrap_or("kernel")))
    };
    assert_eq!(at(0xffff_ffff_8100_0210).as_deref(), Some("do_b+16 kernel"));
    assert_eq!(at(0xffff_ffff_8100_0190).as_deref(), Some("late+64 kernel"));
    assert_eq!(at(0xffff_ffff_8100_0110).as_deref(), Some("do_a+16 kernel"));
    assert_eq!(symbols.at(0xffff_ffff_8100_0110).unwrap().0.length, 0x50, "up to the next");
    assert_eq!(at(0xffff_ffff_c000_0008).as_deref(), Some("in_a_module+8 nfs"));
    assert_eq!(at(0xffff_ffff_8000_0000), None);
    assert_eq!(at(0xffff_ffff_b000_0000), None, "too far behind the last");
    assert!(!symbols.is_empty());
    let hidden = "0000000000000000 T _stext\n0000000000000000 t do_a\n";
    assert!(KernelSymbols::parse(hidden.as_bytes(), later()).is_empty());
    assert!(KernelSymbols::parse(text.as_bytes(), Instant::now()).is_empty());
}

#[test]
fn a_compilers_list_names_its_code() {
    let text = "7f00 40 old\n7f00 20 LazyCompile:~add x.js:1\n7f40 10 next\nnonsense\n";
    let symbols = ListedSymbols::parse(text);
    let at = |address| symbols.at(address).map(|symbol| symbol.name);
    assert_eq!(at(0x7f1f).as_deref(), Some("LazyCompile:~add x.js:1"), "what came last");
    assert_eq!(at(0x7f20), None);
    assert_eq!(at(0x7f4f).as_deref(), Some("next"));
    assert_eq!(at(0x10), None);
}

#[test]
fn functions_of_cpp_have_the_names_that_others_call_them_by() {
    let directory = std::env::temp_dir().join(format!("knee-cpp-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (source, library) = (directory.join("loop.cc"), directory.join("loop.so"));
    let text = "namespace net { template <class T> struct Loop { T spin(T n) { while (n) --n; return n; } };\n\
                template struct Loop<int>; }\nint work(int n) { return net::Loop<int>().spin(n); }\n\
                extern \"C\" int shown(int n) { return n + 1; }\n\
                static int own_name(int) __attribute__((alias(\"shown\"), used));\n";
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("c++");
    let compiled = compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    let bytes = std::fs::read(&library);
    std::fs::remove_dir_all(&directory).unwrap();
    let (Ok(true), Ok(bytes)) = (compiled.map(|status| status.success()), bytes) else {
        return println!("SKIPPED: there is no compiler for C++ here");
    };
    let table = FileSymbols::parse(&*bytes).unwrap().table;
    let names: Vec<String> =
        table.entries.iter().filter_map(|entry| Some(table.at(entry.start)?.0.name)).collect();
    for (name, is_wanted) in
        [("net::Loop::spin", true), ("work", true), ("shown", true), ("own_name", false)]
    {
        assert_eq!(names.iter().any(|own| own == name), is_wanted, "{name}: {names:?}");
    }
}
