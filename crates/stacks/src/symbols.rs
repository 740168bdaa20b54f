//! The function at an address: from an ELF file, from the text of `kallsyms`, or from what a just-in-time
//! compiler wrote about its code.

pub(crate) mod addresses;
pub(crate) mod demangle;
pub(crate) mod maps;
pub(crate) mod tables;
pub(crate) mod unwinding;

use demangle::readable;
use object::read::{File, ReadCache, ReadRef};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};
use std::fs;
use std::io::{self, BufRead};
use std::ops::Range;
use std::time::Instant;

/// Larger symbol tables are not read: 64 MiB of entries.
const SYMBOLS_MAX: usize = (64 << 20) / 24;
/// More of a file than this is not read at once: its tables are read before anything says how large they are.
const READ_BYTES_MAX: u64 = 256 << 20;
/// Tables whose names are longer than this together are not kept: each symbol may have the name of all others.
const NAMES_BYTES_MAX: usize = 256 << 20;
/// Where debug symbols are by the build-ids of files.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";
/// A function of the kernel is taken to end here where no other follows: `kallsyms` has no sizes.
const KERNEL_FUNCTION_BYTES_MAX: u64 = 1 << 20;
/// What the kernel's second names begin with: of functions that also run before it is at its address.
const SECOND_NAME: &[u8] = b"__pi_";

/// The symbol at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Demangled and shortened.
    pub name: String,
    /// How many bytes after its beginning the address is.
    pub offset: u64,
    /// Where it begins: in the kernel, or as the file was linked.
    pub start: u64,
    /// How long it is.
    pub length: u64,
}

/// Functions by address.
#[derive(Debug, Default)]
struct Table {
    /// In ascending order of their starts, no start twice.
    entries: Vec<Entry>,
    names: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u64,
    end: u64,
    /// Where its name is in [`Table::names`].
    name: u32,
    name_length: u32,
    /// For the kernel: 0, or one more than the index of its module.
    module: u32,
}

impl Table {
    /// Of symbols with the same start the first is kept, unless it has no size of its own.
    fn push(&mut self, start: u64, end: u64, name: &[u8], module: u32) {
        let at = self.names.len();
        if let (Ok(at), Ok(name_length)) = (u32::try_from(at), u32::try_from(name.len())) {
            self.names.extend_from_slice(name);
            self.entries.push(Entry { start, end, name: at, name_length, module });
        }
    }

    fn sort(&mut self) {
        self.entries.sort_by_key(|entry| entry.start);
        self.entries.dedup_by_key(|entry| entry.start);
    }

    /// The same, but a second name of the kernel for its own use gives way to the first.
    fn sort_by_names(&mut self) {
        let Table { entries, names } = self;
        let is_second = |entry: &Entry| names[entry.name as usize..].starts_with(SECOND_NAME);
        entries.sort_by_key(|entry| (entry.start, is_second(entry)));
        entries.dedup_by_key(|entry| entry.start);
    }

    /// The entry with the greatest start at or below `address`.
    fn below(&self, address: u64) -> Option<&Entry> {
        let after = self.entries.partition_point(|entry| entry.start <= address);
        self.entries.get(after.checked_sub(1)?)
    }

    fn at(&self, address: u64) -> Option<(Symbol, u32)> {
        let &Entry { start, end, name, name_length, module } = self.below(address)?;
        let name = self.names.get(name as usize..)?.get(..name_length as usize)?;
        let name = readable(&String::from_utf8_lossy(name));
        let symbol = Symbol { name, offset: address - start, start, length: end - start };
        (address < end).then_some((symbol, module))
    }
}

/// Data of which no more than [`READ_BYTES_MAX`] is read at once.
#[derive(Clone, Copy)]
pub(crate) struct Bounded<R>(pub R);

impl<'data, R: ReadRef<'data>> ReadRef<'data> for Bounded<R> {
    fn len(self) -> Result<u64, ()> {
        self.0.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'data [u8], ()> {
        if size > READ_BYTES_MAX { Err(()) } else { self.0.read_bytes_at(offset, size) }
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'data [u8], ()> {
        self.0.read_bytes_at_until(range, delimiter)
    }
}

/// Where a part of an ELF file is in memory, as it was linked: its offset, size and address.
pub(crate) type FileSegment = (u64, u64, u64);

fn file_segments<'data>(file: &File<'data, impl ReadRef<'data>>) -> Vec<FileSegment> {
    let segments = file.segments().map(|segment| {
        let (offset, size) = segment.file_range();
        (offset, size, segment.address())
    });
    segments.collect()
}

/// The address that a byte of a file was linked for.
fn linked_address(segments: &[FileSegment], offset: u64) -> Option<u64> {
    segments.iter().find_map(|&(begin, size, address)| {
        let within = offset.checked_sub(begin).filter(|&within| within < size)?;
        address.checked_add(within)
    })
}

/// Two digits a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// The file that a distribution keeps the debug symbols of another in, by that one's build-id.
pub(crate) fn debug_file<'data>(file: &File<'data, impl ReadRef<'data>>) -> Option<fs::File> {
    let id = file.build_id().ok().flatten()?;
    let digits = hex(id);
    let (directory, name) = digits.split_at_checked(2)?;
    fs::File::open(format!("{DEBUG_FILES}/{directory}/{name}.debug")).ok()
}

/// Where in a file the bytes from this address are, with how many follow.
pub(crate) fn file_range(segments: &[FileSegment], address: u64) -> Option<(u64, u64)> {
    segments.iter().find_map(|&(begin, size, start)| {
        let within = address.checked_sub(start).filter(|&within| within < size)?;
        Some((begin.checked_add(within)?, size - within))
    })
}

/// The functions of an ELF file.
#[derive(Debug, Default)]
pub struct FileSymbols {
    segments: Vec<FileSegment>,
    table: Table,
}

impl FileSymbols {
    /// Reads its symbol table, else that of its debug symbols where they are installed, else its dynamic symbols.
    ///
    /// # Errors
    /// The data is no ELF file.
    pub fn parse<'data>(data: impl ReadRef<'data>) -> io::Result<FileSymbols> {
        FileSymbols::parse_within(data, NAMES_BYTES_MAX)
    }

    fn parse_within<'data>(data: impl ReadRef<'data>, names_max: usize) -> io::Result<FileSymbols> {
        let file = File::parse(Bounded(data)).map_err(io::Error::other)?;
        let mut symbols = FileSymbols { segments: file_segments(&file), table: Table::default() };
        // Of a part of a table, the symbol below an address may not be the nearest.
        let is_read = |count: usize| (1..=SYMBOLS_MAX).contains(&count);
        let has_symbols = is_read(file.symbols().take(SYMBOLS_MAX + 1).count());
        let detached = if has_symbols { None } else { debug_file(&file) };
        if let Some(detached) = detached {
            let data = ReadCache::new(detached);
            let file = File::parse(Bounded(&data)).map_err(io::Error::other)?;
            symbols.add(&file, file.symbols(), names_max);
        }
        if has_symbols {
            symbols.add(&file, file.symbols(), names_max);
        } else if symbols.table.entries.is_empty()
            && is_read(file.dynamic_symbols().take(SYMBOLS_MAX + 1).count())
        {
            symbols.add(&file, file.dynamic_symbols(), names_max);
        }
        Ok(symbols)
    }

    fn add<'data, S: ObjectSymbol<'data>>(
        &mut self,
        file: &File<'data, impl ReadRef<'data>>,
        symbols: impl Iterator<Item = S>,
        names_max: usize,
    ) {
        let is_code =
            |symbol: &S| symbol.kind() == SymbolKind::Text && symbol.section_index().is_some();
        let mut all = Vec::new();
        let mut names_length = 0;
        for symbol in symbols.filter(is_code) {
            let Ok(name) = symbol.name_bytes() else { continue };
            names_length += name.len();
            if names_length > names_max {
                self.table = Table::default();
                return;
            }
            let (start, size) = (symbol.address(), symbol.size());
            // Those without a size were written in assembly, and end where the next one starts and within their section.
            let end = match size {
                0 => section_end(file, &symbol),
                size => Some(start.saturating_add(size)),
            };
            let is_second = (size == 0, symbol.is_local());
            all.extend(end.filter(|_| !name.is_empty()).map(|end| (is_second, start, end, name)));
        }
        // A name with a size is the better one, and what other files call it, not an alias for its own use.
        all.sort_by_key(|(is_second, ..)| *is_second);
        for (_, start, end, name) in all {
            self.table.push(start, end, name, 0);
        }
        self.table.sort();
    }

    /// The symbol at this offset of the file, if there is one.
    pub fn at(&self, offset: u64) -> Option<Symbol> {
        Some(self.table.at(self.address(offset)?)?.0)
    }

    /// The address that a byte of the file was linked for.
    pub fn address(&self, offset: u64) -> Option<u64> {
        linked_address(&self.segments, offset)
    }

    /// Where in the file the bytes from this address are, with how many follow.
    pub fn file_range(&self, address: u64) -> Option<(u64, u64)> {
        file_range(&self.segments, address)
    }
}

fn section_end<'data>(
    file: &File<'data, impl ReadRef<'data>>,
    symbol: &impl ObjectSymbol<'data>,
) -> Option<u64> {
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let end = section.address().checked_add(section.size())?;
    (symbol.address() < end).then_some(end)
}

/// The functions of the kernel and its modules.
#[derive(Debug, Default)]
pub struct KernelSymbols {
    table: Table,
    modules: Vec<String>,
}

impl KernelSymbols {
    /// From the lines of `kallsyms`. There are none where the kernel hides its addresses, and where reading takes
    /// until `until`.
    pub fn parse(mut kallsyms: impl BufRead, until: Instant) -> KernelSymbols {
        let mut symbols = KernelSymbols::default();
        let mut line = String::new();
        loop {
            line.clear();
            match kallsyms.read_line(&mut line) {
                Ok(length) if length > 0 => symbols.add(&line),
                _ => break,
            }
            if Instant::now() >= until {
                // A nearer symbol may be among the lines that were not read.
                return KernelSymbols::default();
            }
        }
        symbols.table.sort_by_names();
        let entries = &mut symbols.table.entries;
        for index in 0..entries.len() {
            let next = entries.get(index + 1).map_or(u64::MAX, |next| next.start);
            let entry = &mut entries[index];
            entry.end = next.min(entry.start.saturating_add(KERNEL_FUNCTION_BYTES_MAX));
        }
        symbols
    }

    /// `ffffffff81000100 t do_a [module]`.
    fn add(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let (Some(address), Some("t" | "T" | "w" | "W"), Some(name)) =
            (words.next(), words.next(), words.next())
        else {
            return;
        };
        let address = u64::from_str_radix(address, 16).unwrap_or_default();
        if address == 0 {
            return;
        }
        let module = words.next().map_or("", |word| word.trim_matches(['[', ']']));
        let module = self.module(module);
        self.table.push(address, address, name.as_bytes(), module);
    }

    /// 0 for the kernel itself, or one more than the index of a module.
    fn module(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        // The modules' symbols follow each other.
        let index = self.modules.iter().rposition(|module| module == name).unwrap_or_else(|| {
            self.modules.push(name.to_owned());
            self.modules.len() - 1
        });
        index as u32 + 1
    }

    /// Whether there are none: the kernel hides its addresses, or its list could not be read.
    pub fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// The function at this address, and the name of its module; none for the kernel's own.
    pub fn at(&self, address: u64) -> Option<(Symbol, Option<&str>)> {
        let (symbol, module) = self.table.at(address)?;
        let module = module.checked_sub(1).and_then(|index| self.modules.get(index as usize));
        Some((symbol, module.map(String::as_str)))
    }
}

/// The functions that a just-in-time compiler has listed in a `perf-PID.map`.
#[derive(Debug, Default)]
pub struct ListedSymbols(Table);

impl ListedSymbols {
    /// From lines of a start and a size, both hexadecimal, and a name. Skips malformed lines.
    pub fn parse(text: &str) -> ListedSymbols {
        let mut table = Table::default();
        for line in text.lines() {
            let mut words = line.splitn(3, ' ');
            let hex = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
            let (start, size) = (words.next().and_then(hex), words.next().and_then(hex));
            if let (Some(start), Some(size), Some(name)) = (start, size, words.next()) {
                table.push(start, start.saturating_add(size), name.trim().as_bytes(), 0);
            }
        }
        // What was compiled last is at an address that was used before.
        table.entries.reverse();
        table.sort();
        ListedSymbols(table)
    }

    /// The function at this address.
    pub fn at(&self, address: u64) -> Option<Symbol> {
        Some(self.0.at(address)?.0)
    }
}

#[cfg(test)]
mod tests;
