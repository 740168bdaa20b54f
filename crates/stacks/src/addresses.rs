//! From addresses of living processes to symbols: each address becomes an offset in a file while the process
//! lives, and a name afterwards.

use crate::maps::Maps;
use crate::procfs::read;
use crate::symbols::{Symbol, in_file, in_kernel};
use object::read::ReadCache;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};
use sys::perf::Counter;

/// Files whose symbols are looked up.
const FILES_MAX: usize = 32;
/// How long looking up symbols may take.
const LOOKUP_MAX: Duration = Duration::from_secs(1);

/// An address that outlives its process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CodeAddress {
    /// In a file of [`MappedFiles`], at this offset.
    File(usize, u64),
    /// In the kernel.
    Kernel(u64),
    /// In no file: `[vdso]`.
    NoFile(String),
}

/// The mappings of a process, as they were when it was last seen alive.
#[derive(Default)]
pub(crate) struct ProcessMaps {
    maps: Maps,
}

impl ProcessMaps {
    /// Reads them again; keeps the old ones if the process has gone.
    pub fn refresh(&mut self, pid: u32) {
        if let Some(text) = read(&format!("/proc/{pid}/maps")).filter(|text| !text.is_empty()) {
            self.maps = Maps::parse(&text);
        }
    }
}

/// The files that addresses were found in.
#[derive(Default)]
pub(crate) struct MappedFiles(Vec<MappedFile>);

struct MappedFile {
    inode: u64,
    path: String,
    module: String,
    /// None where the mapped file can't be opened, or there are [`FILES_MAX`] others.
    file: Option<File>,
}

/// What an address turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResolvedAddress {
    /// The file, as its path and its short name; none for the kernel.
    pub file: Option<(String, String)>,
    /// The function.
    pub name: Option<String>,
    /// The offset in the function, or in the file where the function is not known.
    pub offset: Option<u64>,
}

impl MappedFiles {
    /// Where `counter` is in the process `pid`. Opens its file, so that it can be read when the process is gone.
    pub fn locate(
        &mut self,
        pid: u32,
        program: &str,
        process: &ProcessMaps,
        counter: Counter,
    ) -> CodeAddress {
        let address = match counter {
            Counter::Kernel(address) => return CodeAddress::Kernel(address),
            Counter::User(address) => address,
        };
        let Some(mapping) = process.maps.find(address) else {
            return CodeAddress::NoFile("memory that is unknown".into());
        };
        if mapping.inode == 0 {
            return CodeAddress::NoFile(mapping.module().to_owned());
        }
        let is_same = |file: &MappedFile| file.inode == mapping.inode && file.path == mapping.path;
        let index = self.0.iter().position(is_same).unwrap_or_else(|| {
            let range = format!("{:x}-{:x}", mapping.start, mapping.end);
            let path = &mapping.path;
            let file = (self.0.len() < FILES_MAX)
                .then(|| open_mapped(pid, &range, path, path == program, mapping.inode))
                .flatten();
            let module = mapping.module().to_owned();
            self.0.push(MappedFile { inode: mapping.inode, path: path.clone(), module, file });
            self.0.len() - 1
        });
        CodeAddress::File(index, address - mapping.start + mapping.offset)
    }

    /// Looks up the functions of these addresses; those of the kernel only if `with_kernel`.
    pub fn resolve(
        self,
        addresses: &BTreeSet<CodeAddress>,
        with_kernel: bool,
    ) -> BTreeMap<CodeAddress, ResolvedAddress> {
        let until = Instant::now() + LOOKUP_MAX;
        let mut resolved = BTreeMap::new();
        for (index, mapped) in self.0.into_iter().enumerate() {
            let offset_in_file = |address: &CodeAddress| match *address {
                CodeAddress::File(file, offset) if file == index => Some(offset),
                _ => None,
            };
            let offsets: Vec<u64> = addresses.iter().filter_map(offset_in_file).collect();
            let file = mapped.file.filter(|_| Instant::now() < until);
            let mut symbols = file
                .and_then(|file| in_file(&ReadCache::new(file), &offsets).ok())
                .unwrap_or_default()
                .into_iter();
            for offset in offsets {
                let symbol = symbols.next().flatten();
                let file = Some((mapped.path.clone(), mapped.module.clone()));
                resolved.insert(
                    CodeAddress::File(index, offset),
                    resolved_address(file, symbol, Some(offset)),
                );
            }
        }
        for (address, symbol) in kernel_symbols(addresses, with_kernel, until) {
            resolved.insert(address, resolved_address(None, symbol, None));
        }
        resolved
    }
}

fn resolved_address(
    file: Option<(String, String)>,
    symbol: Option<Symbol>,
    offset: Option<u64>,
) -> ResolvedAddress {
    match symbol {
        Some(symbol) => {
            ResolvedAddress { file, name: Some(symbol.name), offset: Some(symbol.offset) }
        }
        None => ResolvedAddress { file, name: None, offset },
    }
}

fn kernel_symbols(
    addresses: &BTreeSet<CodeAddress>,
    wanted: bool,
    until: Instant,
) -> Vec<(CodeAddress, Option<Symbol>)> {
    let in_the_kernel = |address: &CodeAddress| match address {
        CodeAddress::Kernel(address) => Some(*address),
        _ => None,
    };
    let addresses: Vec<u64> = addresses.iter().filter_map(in_the_kernel).collect();
    let list = wanted.then(|| File::open("/proc/kallsyms").ok()).flatten();
    let symbols = match list {
        Some(list) => in_kernel(BufReader::new(list), &addresses, until),
        None => vec![None; addresses.len()],
    };
    addresses.into_iter().map(CodeAddress::Kernel).zip(symbols).collect()
}

/// Opens the very file that is mapped: its path may hold another by now.
fn open_mapped(pid: u32, range: &str, path: &str, is_program: bool, inode: u64) -> Option<File> {
    if let Ok(file) = File::open(format!("/proc/{pid}/map_files/{range}")) {
        return Some(file);
    }
    if is_program && let Ok(file) = File::open(format!("/proc/{pid}/exe")) {
        return Some(file);
    }
    // Opening a device or a pipe could wait, or have an effect.
    let metadata = fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.ino() == inode).then(|| File::open(path).ok()).flatten()
}
