//! The machine code of functions: from the files that they are in, from the kernel's memory, or from its code in
//! user space; with source lines where a file has them.

pub(crate) mod source_lines;

use crate::kernel_memory::KernelMemory;
use crate::symbols::addresses::{CodeAddress, MappedFiles, ResolvedAddress};
use crate::symbols::tables::vdso;
use crate::symbols::{Symbol, hex};
use model::{CodeFault, FrameKind, MachineCode};
use source_lines::{check_time, source_lines};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The most that is read of a function.
const FUNCTION_BYTES_MAX: u64 = 64 << 10;
/// Functions whose code is kept.
const FUNCTIONS_MAX: usize = 1024;

/// A function of a file: device, inode, size and time of change of the file, and the function's address.
type FunctionKey = (u64, u64, u64, i64, u64);

/// The code of functions in files, so that cells that are profiled one after the other read it once.
static READ: Mutex<BTreeMap<FunctionKey, MachineCode>> = Mutex::new(BTreeMap::new());

/// Code whose source lines are looked for, with those of the same file.
struct WithoutLines {
    /// Its index among the functions.
    function: usize,
    /// The number of its file.
    file: usize,
    key: FunctionKey,
}

/// The code of the functions that these addresses are in, as far as it is read until `until`.
pub(crate) fn machine_codes(
    files: &MappedFiles,
    functions: &[(&CodeAddress, &ResolvedAddress)],
    until: Instant,
) -> Vec<Result<MachineCode, CodeFault>> {
    let mut without_lines = Vec::new();
    let codes = functions.iter().enumerate().map(|(function, (address, resolved))| {
        let (code, in_file) = machine_code(files, address, resolved, until)?;
        without_lines.extend(in_file.map(|(file, key)| WithoutLines { function, file, key }));
        Ok(code)
    });
    let mut codes: Vec<Result<MachineCode, CodeFault>> = codes.collect();
    let indices: BTreeSet<usize> = without_lines.iter().map(|code| code.file).collect();
    for index in indices {
        let of_file: Vec<&WithoutLines> =
            without_lines.iter().filter(|code| code.file == index).collect();
        add_lines(files, index, &of_file, &mut codes, until);
    }
    codes
}

/// Adds the lines of the functions of one file, and keeps these functions for later.
fn add_lines(
    files: &MappedFiles,
    index: usize,
    functions: &[&WithoutLines],
    codes: &mut [Result<MachineCode, CodeFault>],
    until: Instant,
) {
    let Some(file) = files.open(index) else { return };
    let range = |code: &&WithoutLines| {
        let code = codes[code.function].as_ref().ok()?;
        // Two digits a byte.
        Some((code.address, code.bytes.len() as u64 / 2))
    };
    let ranges: Vec<(u64, u64)> = functions.iter().filter_map(range).collect();
    // What takes too long is not kept without its lines: a later cell may have the time.
    let Ok(lines) = source_lines(&file, &ranges, until) else { return };
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    for (without, lines) in functions.iter().zip(lines) {
        let Ok(code) = &mut codes[without.function] else { continue };
        code.lines = lines;
        if read.len() < FUNCTIONS_MAX {
            read.insert(without.key, code.clone());
        }
    }
}

/// The code of one function; of one in a file, unless it was read before, without its lines, with what finds them.
fn machine_code(
    files: &MappedFiles,
    address: &CodeAddress,
    resolved: &ResolvedAddress,
    until: Instant,
) -> Result<(MachineCode, Option<(usize, FunctionKey)>), CodeFault> {
    let symbol = resolved.symbol.as_ref().ok_or(CodeFault::NoSuchFile)?;
    match (address, resolved.kind) {
        (CodeAddress::File(index, _), _) => {
            let code = in_file(files, *index, symbol, until);
            let code = code.map(|(code, key)| (code, key.map(|key| (*index, key))));
            code.map_err(|error| {
                let path = resolved.path.clone().unwrap_or_default();
                match error.kind() {
                    io::ErrorKind::TimedOut => CodeFault::TimedOut,
                    _ => CodeFault::FileUnreadable { path, error: error.to_string() },
                }
            })
        }
        (CodeAddress::Vdso(offset), _) => {
            let code = in_vdso(symbol, *offset).ok_or(CodeFault::NoSuchFile)?;
            Ok((code, None))
        }
        (CodeAddress::Kernel(_), FrameKind::Kernel | FrameKind::KernelModule | FrameKind::Bpf) => {
            let unreadable =
                |error: io::Error| CodeFault::KernelMemoryUnreadable { error: error.to_string() };
            Ok((in_kernel(symbol).map_err(unreadable)?, None))
        }
        _ => Err(CodeFault::NoSuchFile),
    }
}

fn new_code(symbol: &Symbol, bytes: &[u8]) -> MachineCode {
    let architecture = std::env::consts::ARCH.to_owned();
    MachineCode { architecture, address: symbol.start, bytes: hex(bytes), lines: Vec::new() }
}

fn in_file(
    files: &MappedFiles,
    index: usize,
    symbol: &Symbol,
    until: Instant,
) -> io::Result<(MachineCode, Option<FunctionKey>)> {
    let gone = || io::Error::other("it is no longer there, or is another file by now");
    let file = files.open(index).ok_or_else(gone)?;
    let metadata = file.metadata()?;
    let (device, inode, size) = (metadata.dev(), metadata.ino(), metadata.size());
    let key = (device, inode, size, metadata.ctime(), symbol.start);
    if let Some(code) = READ.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok((code.clone(), None));
    }
    let no_bytes = || io::Error::other("the function's code is not in the file");
    check_time(until)?;
    let symbols = files.symbols(index, until).ok_or_else(gone)?;
    let (offset, rest) = symbols.file_range(symbol.start).ok_or_else(no_bytes)?;
    let length = symbol.length.min(rest).min(FUNCTION_BYTES_MAX);
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, offset)?;
    Ok((new_code(symbol, &bytes), Some(key)))
}

fn in_vdso(symbol: &Symbol, offset: u64) -> Option<MachineCode> {
    // Its file is mapped as a whole, from its beginning.
    let start = usize::try_from(offset.checked_sub(symbol.offset)?).ok()?;
    let length = usize::try_from(symbol.length.min(FUNCTION_BYTES_MAX)).ok()?;
    let bytes = vdso()?.bytes.get(start..)?.get(..length)?;
    Some(new_code(symbol, bytes))
}

fn in_kernel(symbol: &Symbol) -> io::Result<MachineCode> {
    let memory = KernelMemory::open(File::open("/proc/kcore")?)?;
    let bytes = memory.read(symbol.start, symbol.length.min(FUNCTION_BYTES_MAX))?;
    Ok(new_code(symbol, &bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::maps::Maps;
    use std::fs;
    use std::time::Duration;

    /// Where the function below begins.
    const LANDMARK_LINE: u32 = line!() + 3;

    #[inline(never)]
    fn landmark(number: u64) -> u64 {
        let doubled = std::hint::black_box(number * 2);
        std::hint::black_box(doubled + 4711)
    }

    fn code_at(address: u64) -> (String, Result<MachineCode, CodeFault>) {
        code_before(address, Instant::now() + Duration::from_secs(60))
    }

    fn code_before(address: u64, code_until: Instant) -> (String, Result<MachineCode, CodeFault>) {
        let maps = Maps::parse(&fs::read_to_string("/proc/self/maps").unwrap());
        let mut files = MappedFiles::default();
        let address = files.locate(std::process::id(), "", &maps, address);
        let until = Instant::now() + Duration::from_secs(60);
        let resolved = files.resolve(&BTreeSet::from([address.clone()]), true, until);
        let resolved = &resolved[&address];
        let name = resolved.symbol.as_ref().map(|symbol| symbol.name.clone());
        let code = machine_codes(&files, &[(&address, resolved)], code_until).remove(0);
        (name.unwrap_or_default(), code)
    }

    #[test]
    fn the_code_of_an_own_function_is_what_runs_and_has_its_lines() {
        assert_eq!(landmark(1), 4713);
        let start = landmark as *const () as u64;
        let (name, code) = code_at(start + 3);
        let code = code.unwrap();
        assert_eq!(name, "stacks::code::tests::landmark");
        assert_eq!(code.architecture, std::env::consts::ARCH);
        let mut running = vec![0; code.bytes.len() / 2];
        File::open("/proc/self/mem").unwrap().read_exact_at(&mut running, start).unwrap();
        let digits: Vec<String> = running.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(code.bytes, digits.concat());
        let first = LANDMARK_LINE;
        let (offset, line) = &code.lines[0];
        assert_eq!((*offset, line.as_str()), (0, &*format!("stacks/src/code.rs:{first}")));
        assert!(code.lines.iter().all(|(offset, _)| *offset < running.len() as u64));
        assert!(code.lines.iter().any(|(_, line)| line.ends_with(&format!(":{}", first + 1))));
        assert_eq!(code_at(start).1, Ok(code), "once more");
    }

    #[inline(never)]
    fn other_landmark(number: u64) -> u64 {
        std::hint::black_box(number * 3)
    }

    #[test]
    fn what_takes_too_long_says_so_and_is_read_later() {
        assert_eq!(other_landmark(1), 3);
        let start = other_landmark as *const () as u64;
        let (name, code) = code_before(start, Instant::now());
        assert_eq!(name, "stacks::code::tests::other_landmark");
        assert_eq!(code, Err(CodeFault::TimedOut));
        assert!(code_at(start).1.is_ok_and(|code| !code.lines.is_empty()));
    }

    #[test]
    fn what_is_in_no_file_says_so() {
        assert_eq!(code_at(8).1, Err(CodeFault::NoSuchFile));
        let symbol = Symbol { name: "f".into(), offset: 0, start: u64::MAX - 8, length: 8 };
        assert!(in_kernel(&symbol).is_err());
    }

    #[test]
    fn the_kernels_code_in_user_space_is_read() {
        let Some(vdso) = vdso() else { return eprintln!("SKIPPED: no vDSO here") };
        let offset = (0..vdso.bytes.len() as u64).find(|&offset| vdso.symbols.at(offset).is_some());
        let symbol = vdso.symbols.at(offset.unwrap()).unwrap();
        let code = in_vdso(&symbol, offset.unwrap()).unwrap();
        assert_eq!(code.bytes.len() as u64, 2 * symbol.length);
    }
}
