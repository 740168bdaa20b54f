//! From addresses of living processes to symbols: each address becomes a place in a file while the
//! process lives, and a name afterwards.

use super::tasks::read;
use crate::symbols::{Maps, Symbol, in_file, in_kernel};
use object::read::ReadCache;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};
use sys::perf::Counter;

/// Symbols are looked up in so many files, and for so long.
const FILES_MAX: usize = 32;
const TIME_MAX: Duration = Duration::from_secs(1);

/// Where an instruction stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spot {
    /// In a file, by its place in the list, so many bytes from its beginning.
    File(usize, u64),
    Kernel(u64),
    /// In no file: `[vdso]`.
    Elsewhere(String),
}

/// Which of a process's addresses hold which files.
#[derive(Default)]
pub(super) struct Memory {
    maps: Maps,
}

impl Memory {
    /// As it is now; as it was where the process has gone.
    pub fn look_again(&mut self, pid: u32) {
        if let Some(text) = read(&format!("/proc/{pid}/maps")).filter(|text| !text.is_empty()) {
            self.maps = Maps::parse(&text);
        }
    }
}

/// The files that instructions were found in.
#[derive(Default)]
pub(super) struct Files(Vec<Mapped>);

struct Mapped {
    inode: u64,
    path: String,
    module: String,
    /// None where the file that was mapped can't be opened, or is not looked at.
    file: Option<File>,
}

/// What a spot turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The file, as its path and its short name; none for the kernel and memory without a file.
    pub file: Option<(String, String)>,
    /// Its function; the word for it where there is no file.
    pub name: Option<String>,
    /// So many bytes behind the beginning of the function, or of the file.
    pub offset: Option<u64>,
}

impl Files {
    /// Where `counter` stands in the process `pid`, whose file is then held open.
    pub fn spot(&mut self, pid: u32, program: &str, memory: &Memory, counter: Counter) -> Spot {
        let address = match counter {
            Counter::Kernel(address) => return Spot::Kernel(address),
            Counter::User(address) => address,
        };
        let Some(mapping) = memory.maps.find(address) else {
            return Spot::Elsewhere("memory that is unknown".into());
        };
        if mapping.inode == 0 {
            return Spot::Elsewhere(mapping.module().to_owned());
        }
        let same = |known: &Mapped| known.inode == mapping.inode && known.path == mapping.path;
        let index = self.0.iter().position(same).unwrap_or_else(|| {
            let wanted = self.0.len() < FILES_MAX;
            let range = format!("{:x}-{:x}", mapping.start, mapping.end);
            let path = &mapping.path;
            let open = || open(pid, &range, path, path == program, mapping.inode);
            let file = if wanted { open() } else { None };
            let module = mapping.module().to_owned();
            self.0.push(Mapped { inode: mapping.inode, path: path.clone(), module, file });
            self.0.len() - 1
        });
        Spot::File(index, address - mapping.start + mapping.offset)
    }

    /// What these spots are; `kernel` says whether to look up the kernel's functions too.
    pub fn places(self, spots: &BTreeSet<Spot>, kernel: bool) -> BTreeMap<Spot, Place> {
        let until = Instant::now() + TIME_MAX;
        let mut places = BTreeMap::new();
        for (index, mapped) in self.0.into_iter().enumerate() {
            let within = |spot: &Spot| match *spot {
                Spot::File(of, offset) if of == index => Some(offset),
                _ => None,
            };
            let offsets: Vec<u64> = spots.iter().filter_map(within).collect();
            let file = mapped.file.filter(|_| Instant::now() < until);
            let symbols = file.and_then(|file| in_file(&ReadCache::new(file), &offsets).ok());
            let mut symbols = symbols.unwrap_or_default().into_iter();
            let (path, module) = (mapped.path, mapped.module);
            for offset in offsets {
                let symbol = symbols.next().flatten();
                let file = Some((path.clone(), module.clone()));
                places.insert(Spot::File(index, offset), place(file, symbol, Some(offset)));
            }
        }
        for (spot, symbol) in kernel_symbols(spots, kernel, until) {
            places.insert(spot, place(None, symbol, None));
        }
        places
    }
}

fn place(file: Option<(String, String)>, symbol: Option<Symbol>, offset: Option<u64>) -> Place {
    match symbol {
        Some(symbol) => Place { file, name: Some(symbol.name), offset: Some(symbol.offset) },
        None => Place { file, name: None, offset },
    }
}

fn kernel_symbols(
    spots: &BTreeSet<Spot>,
    wanted: bool,
    until: Instant,
) -> Vec<(Spot, Option<Symbol>)> {
    let address = |spot: &Spot| match spot {
        Spot::Kernel(address) => Some(*address),
        _ => None,
    };
    let addresses: Vec<u64> = spots.iter().filter_map(address).collect();
    let list = if wanted { File::open("/proc/kallsyms").ok() } else { None };
    let symbols = match list {
        Some(list) => in_kernel(BufReader::new(list), &addresses, until),
        None => vec![None; addresses.len()],
    };
    addresses.into_iter().map(Spot::Kernel).zip(symbols).collect()
}

/// The very file that is mapped: a path may hold another by now.
fn open(pid: u32, range: &str, path: &str, is_program: bool, inode: u64) -> Option<File> {
    if let Ok(file) = File::open(format!("/proc/{pid}/map_files/{range}")) {
        return Some(file);
    }
    if is_program && let Ok(file) = File::open(format!("/proc/{pid}/exe")) {
        return Some(file);
    }
    // Opening what is no file could wait, or do something.
    let here = fs::metadata(path).ok()?;
    (here.is_file() && here.ino() == inode).then(|| File::open(path).ok()).flatten()
}
