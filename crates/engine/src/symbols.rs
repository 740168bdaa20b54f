//! What stands at an address: the mapping, the file's symbol, the kernel's symbol, in readable words.
//!
//! Nothing here asks a process anything: it is all made of the text of a `maps` file, the bytes of an
//! ELF file and the text of `kallsyms`.

use object::read::{File, ReadRef};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};
use std::io::{self, BufRead};
use std::time::Instant;

/// A name longer than this loses its beginning: its end says more.
const NAME_CHARS_MAX: usize = 100;
/// Of larger symbol tables nothing is read.
const TABLE_BYTES_MAX: u64 = 64 << 20;

/// A part of a process's memory that holds instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Where it begins in memory.
    pub start: u64,
    /// The first address behind it.
    pub end: u64,
    /// Which byte of the file stands at its start.
    pub offset: u64,
    /// The number of the file in its file system; 0 where there is no file.
    pub inode: u64,
    /// The file as the kernel names it, perhaps with ` (deleted)`, or a word like `[vdso]`; empty for
    /// memory without a file.
    pub path: String,
}

impl Mapping {
    /// The file's name without its folders, and without the word that it is deleted.
    pub fn module(&self) -> &str {
        let path = self.path.strip_suffix(" (deleted)").unwrap_or(&self.path);
        let name = path.rsplit('/').next().unwrap_or_default();
        if name.is_empty() { "memory without a file" } else { name }
    }
}

/// The mappings of a process that hold instructions.
#[derive(Clone, Debug, Default)]
pub struct Maps(Vec<Mapping>);

impl Maps {
    /// From the text of a `maps` file. Lines that make no sense are passed over.
    pub fn parse(text: &str) -> Maps {
        Maps(text.lines().filter_map(mapping).collect())
    }

    /// The mapping that holds `address`.
    pub fn find(&self, address: u64) -> Option<&Mapping> {
        self.0.iter().find(|mapping| (mapping.start..mapping.end).contains(&address))
    }
}

/// `5581…-5582… r-xp 00003000 fe:00 1234   /usr/bin/knee (deleted)`.
fn mapping(line: &str) -> Option<Mapping> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let (access, rest) = rest.split_once(' ')?;
    let (offset, rest) = rest.split_once(' ')?;
    let (_device, rest) = rest.split_once(' ')?;
    let (inode, path) = rest.split_once(' ').unwrap_or((rest, ""));
    let hex = |text| u64::from_str_radix(text, 16).ok();
    let mapping = Mapping {
        start: hex(start)?,
        end: hex(end)?,
        offset: hex(offset)?,
        inode: inode.parse().ok()?,
        // A new line in a path is told as `\012`, so a path is never longer than its line.
        path: path.trim_start().to_owned(),
    };
    access.contains('x').then_some(mapping)
}

/// A symbol, and how far behind its beginning the address stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Demangled and shortened.
    pub name: String,
    /// In bytes.
    pub offset: u64,
}

/// The nearest beginning at or below each of some addresses.
struct Nearest<T> {
    /// In ascending order.
    addresses: Vec<u64>,
    /// At each index the greatest beginning between this address and the one before.
    begins: Vec<Option<(u64, T)>>,
}

impl<T> Nearest<T> {
    fn new(addresses: &[u64]) -> Self {
        let mut addresses = addresses.to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        let begins = addresses.iter().map(|_| None).collect();
        Nearest { addresses, begins }
    }

    /// The last of those that begin at one place stays, unless `better` prefers what is there.
    fn offer(&mut self, begin: u64, what: impl FnOnce() -> T, better: impl Fn(&T) -> bool) {
        let index = self.addresses.partition_point(|&address| address < begin);
        let Some(slot) = self.begins.get_mut(index) else { return };
        let keeps = slot
            .as_ref()
            .is_some_and(|(known, there)| *known > begin || (*known == begin && better(there)));
        if !keeps {
            *slot = Some((begin, what()));
        }
    }

    fn of(&self, address: u64) -> Option<&(u64, T)> {
        let index = self.addresses.partition_point(|&known| known < address);
        self.begins.get(..=index)?.iter().rev().find_map(Option::as_ref)
    }
}

/// The symbols at these places of an ELF file, counted in bytes from its beginning: from its symbol
/// table, else from what it offers to others. None where the file has no symbol for a place.
///
/// # Errors
/// What is no ELF file.
pub fn in_file<'data>(
    data: impl ReadRef<'data>,
    offsets: &[u64],
) -> io::Result<Vec<Option<Symbol>>> {
    let file = File::parse(data).map_err(io::Error::other)?;
    let addresses: Vec<Option<u64>> =
        offsets.iter().map(|&offset| in_memory(&file, offset)).collect();
    let known: Vec<u64> = addresses.iter().copied().flatten().collect();
    let mut nearest = Nearest::new(&known);
    let table = file.section_by_name(".symtab").map_or(0, |section| section.size());
    if table > 0 && table <= TABLE_BYTES_MAX {
        offer(&mut nearest, file.symbols());
    } else {
        offer(&mut nearest, file.dynamic_symbols());
    }
    let found = addresses.into_iter().map(|address| {
        let address = address?;
        let (begin, symbol) = nearest.of(address)?;
        let offset = address - begin;
        // A size of 0 is that of a function that was written in assembly: it ends where the next
        // begins, and within its section.
        let end = match symbol.size() {
            0 => section_end(&file, symbol)? - begin,
            size => size,
        };
        let name = symbol.name().ok().filter(|name| !name.is_empty())?;
        (offset < end).then(|| Symbol { name: readable(name), offset })
    });
    Ok(found.collect())
}

fn offer<'data, S: ObjectSymbol<'data>>(
    nearest: &mut Nearest<S>,
    symbols: impl Iterator<Item = S>,
) {
    for symbol in symbols {
        if symbol.kind() == SymbolKind::Text && symbol.section_index().is_some() {
            // Of several names of one place the one that was there first, unless it has no size.
            let begin = symbol.address();
            nearest.offer(begin, || symbol, |there| there.size() > 0);
        }
    }
}

/// Where a byte of the file stands in the memory that the file was linked for.
fn in_memory<'data>(file: &File<'data, impl ReadRef<'data>>, offset: u64) -> Option<u64> {
    file.segments().find_map(|segment| {
        let (begin, size) = segment.file_range();
        let within = offset.checked_sub(begin).filter(|&within| within < size)?;
        segment.address().checked_add(within)
    })
}

fn section_end<'data>(
    file: &File<'data, impl ReadRef<'data>>,
    symbol: &impl ObjectSymbol<'data>,
) -> Option<u64> {
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let end = section.address().checked_add(section.size())?;
    (symbol.address() < end).then_some(end)
}

/// The kernel's functions at these addresses, from the lines of `kallsyms`. Where the kernel hides
/// its addresses, and where reading takes until `until`, there may be none.
pub fn in_kernel(kallsyms: impl BufRead, addresses: &[u64], until: Instant) -> Vec<Option<Symbol>> {
    let mut nearest = Nearest::new(addresses);
    for line in kallsyms.lines() {
        let Ok(line) = line else { break };
        let mut words = line.split_whitespace();
        let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let address = u64::from_str_radix(address, 16).unwrap_or_default();
        if address > 0 && matches!(kind, "t" | "T" | "w" | "W") {
            nearest.offer(address, || name.to_owned(), |_| true);
        }
        if Instant::now() >= until {
            // What was read so far may name the wrong neighbour.
            return vec![None; addresses.len()];
        }
    }
    let found = addresses.iter().map(|&address| {
        let (begin, name) = nearest.of(address)?;
        Some(Symbol { name: readable(name), offset: address - begin })
    });
    found.collect()
}

/// A symbol's name for people: demangled, without its hash, the trait that a method is of and the
/// types that it was made for, and not too long.
pub fn readable(name: &str) -> String {
    let name = format!("{:#}", rustc_demangle::demangle(name));
    let name = without_types(&own_type(&name));
    let chars = name.chars().count();
    if chars <= NAME_CHARS_MAX {
        return name;
    }
    let end: String = name.chars().skip(chars + 1 - NAME_CHARS_MAX).collect();
    format!("…{end}")
}

/// `<a::B as c::D>::e` is `a::B::e`; what has no type by name (`<&T as …>`) stays.
fn own_type(name: &str) -> String {
    own_type_within(name, TYPES_MAX)
}

/// A name may come from any program: no deeper than this.
const TYPES_MAX: usize = 8;

fn own_type_within(name: &str, left: usize) -> String {
    if left == 0 {
        return name.to_owned();
    }
    let Some(inner) = name.strip_prefix('<') else { return name.to_owned() };
    let Some(close) = closing(inner) else { return name.to_owned() };
    let (inner, rest) = (&inner[..close], &inner[close + 1..]);
    let mut depth = 0_usize;
    let is_as = |&(at, letter): &(usize, char)| {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && inner[at..].starts_with(" as ")
    };
    let own = inner.char_indices().find(is_as).map_or(inner, |(at, _)| &inner[..at]);
    [&own_type_within(own, left - 1), rest].concat()
}

/// Drops `<…>` and `::<…>`, which say for which types a function was made.
fn without_types(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find('<') {
        let Some(close) = closing(&rest[at + 1..]) else { break };
        let before = &rest[..at];
        // A name that begins with a type in brackets would be left without a beginning.
        if out.is_empty() && before.is_empty() {
            out.push_str(&rest[..close + 2]);
        } else {
            out.push_str(before.strip_suffix("::").unwrap_or(before));
        }
        rest = &rest[at + close + 2..];
    }
    out.push_str(rest);
    out
}

/// Where the bracket that was opened before `text` is closed; the `>` of an arrow closes nothing.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        before = letter;
    }
    None
}

#[cfg(test)]
mod tests;
