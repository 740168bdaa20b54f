//! The function at an address: from the bytes of an ELF file, or the text of `kallsyms`.

use crate::readable;
use object::read::{File, ReadRef};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};
use std::io::{self, BufRead};
use std::time::Instant;

/// Larger symbol tables are not read.
const TABLE_BYTES_MAX: u64 = 64 << 20;

/// The symbol at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Demangled and shortened.
    pub name: String,
    /// How many bytes after its beginning the address is.
    pub offset: u64,
}

/// For each of some addresses the symbol with the greatest start at or below it.
struct SymbolsBelow<T> {
    /// In ascending order.
    addresses: Vec<u64>,
    /// At each index the greatest start between this address and the one before.
    starts: Vec<Option<(u64, T)>>,
}

impl<T> SymbolsBelow<T> {
    fn new(addresses: &[u64]) -> Self {
        let mut addresses = addresses.to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        let starts = addresses.iter().map(|_| None).collect();
        SymbolsBelow { addresses, starts }
    }

    /// Of symbols with the same start the last one is kept, unless `prefers` the one that is there.
    fn offer(&mut self, start: u64, symbol: impl FnOnce() -> T, prefers: impl Fn(&T) -> bool) {
        let index = self.addresses.partition_point(|&address| address < start);
        let Some(slot) = self.starts.get_mut(index) else { return };
        let keeps = slot.as_ref().is_some_and(|(symbol_address, kept)| {
            *symbol_address > start || (*symbol_address == start && prefers(kept))
        });
        if !keeps {
            *slot = Some((start, symbol()));
        }
    }

    fn below(&self, address: u64) -> Option<&(u64, T)> {
        let index = self.addresses.partition_point(|&symbol_address| symbol_address < address);
        self.starts.get(..=index)?.iter().rev().find_map(Option::as_ref)
    }
}

/// The symbols at these offsets of an ELF file: from its symbol table, else from its dynamic symbols. None
/// where the file has no symbol for an offset.
///
/// # Errors
/// The data is no ELF file.
pub fn in_file<'data>(
    data: impl ReadRef<'data>,
    offsets: &[u64],
) -> io::Result<Vec<Option<Symbol>>> {
    let file = File::parse(data).map_err(io::Error::other)?;
    let addresses: Vec<Option<u64>> =
        offsets.iter().map(|&offset| in_memory(&file, offset)).collect();
    let in_segments: Vec<u64> = addresses.iter().copied().flatten().collect();
    let mut symbols = SymbolsBelow::new(&in_segments);
    let table = file.section_by_name(".symtab").map_or(0, |section| section.size());
    if table > 0 && table <= TABLE_BYTES_MAX {
        offer_all(&mut symbols, file.symbols());
    } else {
        offer_all(&mut symbols, file.dynamic_symbols());
    }
    let symbols = addresses.into_iter().map(|address| {
        let address = address?;
        let (start, symbol) = symbols.below(address)?;
        let offset = address - start;
        // A size of 0 is that of a function that was written in assembly: it ends where the next
        // starts, and within its section.
        let end = match symbol.size() {
            0 => section_end(&file, symbol)? - start,
            size => size,
        };
        let name = symbol.name().ok().filter(|name| !name.is_empty())?;
        (offset < end).then(|| Symbol { name: readable(name), offset })
    });
    Ok(symbols.collect())
}

fn offer_all<'data, S: ObjectSymbol<'data>>(
    below: &mut SymbolsBelow<S>,
    symbols: impl Iterator<Item = S>,
) {
    for symbol in symbols {
        if symbol.kind() == SymbolKind::Text && symbol.section_index().is_some() {
            // Of several names of one address the first, unless it has no size.
            below.offer(symbol.address(), || symbol, |kept| kept.size() > 0);
        }
    }
}

/// The address that a byte of the file was linked for.
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
    let mut symbols = SymbolsBelow::new(addresses);
    for line in kallsyms.lines() {
        let Ok(line) = line else { break };
        let mut words = line.split_whitespace();
        let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let address = u64::from_str_radix(address, 16).unwrap_or_default();
        if address > 0 && matches!(kind, "t" | "T" | "w" | "W") {
            symbols.offer(address, || name.to_owned(), |_| true);
        }
        if Instant::now() >= until {
            // A nearer symbol may be among the lines that were not read.
            return vec![None; addresses.len()];
        }
    }
    let symbols = addresses.iter().map(|&address| {
        let (start, name) = symbols.below(address)?;
        Some(Symbol { name: readable(name), offset: address - start })
    });
    symbols.collect()
}

#[cfg(test)]
mod tests;
