//! Addresses, names and files of known contents.

use super::*;
use crate::maps::{Mapping, Maps};
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
    let offsets = [offset_of(mapping, address) + 1, offset_of(mapping, address), u64::MAX];
    let symbols = in_file(&cache, &offsets).unwrap();
    let wanted = "stacks::symbols::tests::landmark".to_owned();
    assert_eq!(symbols[0], Some(Symbol { name: wanted.clone(), offset: 1 }));
    assert_eq!(symbols[1], Some(Symbol { name: wanted, offset: 0 }));
    assert_eq!(symbols[2], None, "beyond the end of the file");
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
    if !made.is_ok_and(|status| status.success()) {
        fs::remove_dir_all(&directory).unwrap();
        return eprintln!("SKIPPED: there is no C compiler here");
    }
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
    assert_eq!(in_file(&program[..], &[address]).unwrap(), [None]);
    let address = entry(&library, "offered");
    let symbols = in_file(&library[..], &[address + 2, address]).unwrap();
    assert_eq!(symbols[0], Some(Symbol { name: "offered".into(), offset: 2 }));
    assert_eq!(symbols[1], Some(Symbol { name: "offered".into(), offset: 0 }));
}

#[test]
fn what_is_no_program_is_refused() {
    assert!(in_file(&b"#!/bin/sh\n"[..], &[0]).is_err());
    assert!(in_file(&b""[..], &[0]).is_err());
    let whole = fs::read("/proc/self/exe").unwrap();
    // Whatever is cut off, there is an answer.
    for length in [20, 64, 1000, whole.len() / 2] {
        let symbols = in_file(&whole[..length], &[16, 4096]);
        assert!(symbols.is_err() || symbols.is_ok_and(|symbols| symbols.len() == 2), "{length}");
    }
}

#[test]
fn the_kernels_function_is_the_nearest_below() {
    let text = "\
ffffffff81000000 T _stext\n\
ffffffff81000100 t do_a\n\
ffffffff81000180 d some_data\n\
ffffffff81000200 T do_b\n\
ffffffffc0000000 t in_a_module [nfs]\n\
ffffffff81000150 t late\n";
    let at = |addresses: &[u64]| in_kernel(text.as_bytes(), addresses, later());
    let names = |symbols: Vec<Option<Symbol>>| -> Vec<String> {
        let say = |symbol: Symbol| format!("{}+{}", symbol.name, symbol.offset);
        symbols.into_iter().map(|symbol| symbol.map_or("none".into(), say)).collect()
    };
    let addresses = [0xffff_ffff_8100_0210, 0xffff_ffff_8100_0190, 0xffff_ffff_8100_0110];
    assert_eq!(names(at(&addresses)), ["do_b+16", "late+64", "do_a+16"]);
    assert_eq!(names(at(&[0xffff_ffff_8000_0000])), ["none"]);
    let hidden = "0000000000000000 T _stext\n0000000000000000 t do_a\n";
    assert_eq!(in_kernel(hidden.as_bytes(), &addresses, later()), [None, None, None]);
    assert_eq!(in_kernel(text.as_bytes(), &addresses, Instant::now()), [None, None, None]);
}
