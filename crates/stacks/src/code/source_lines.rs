//! The source lines of functions, from the debug information of their files.

use crate::symbols::demangle::readable;
use crate::symbols::{Bounded, debug_file};
use addr2line::Context;
use addr2line::gimli::{DwarfSections, EndianSlice, RunTimeEndian, SectionId};
use object::read::{File as ObjectFile, ReadCache, ReadRef};
use object::{Object, ObjectSection};
use std::fs::File;
use std::io;
use std::time::Instant;

/// More debug information than this is not read.
const DEBUG_BYTES_MAX: u64 = 256 << 20;
/// Directories of a path that are kept, with the file's name.
const PATH_PARTS: usize = 3;

/// Whether there is time left.
pub(super) fn check_time(until: Instant) -> io::Result<()> {
    if Instant::now() < until { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
}

/// For each function, by its address and its length: the line at each offset where another one begins,
/// `net/socket.c:1380`; empty where the file has no debug information. That is read once for all functions.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`].
pub(super) fn source_lines(
    file: &File,
    functions: &[(u64, u64)],
    until: Instant,
) -> io::Result<Vec<Vec<(u64, String)>>> {
    let of_functions = |context: &Lines<'_>| {
        let of_function = |&(start, length): &(u64, u64)| {
            check_time(until)?;
            Ok(lines(context, start, length).unwrap_or_default())
        };
        functions.iter().map(of_function).collect()
    };
    with_lines(file, until, of_functions)?.unwrap_or_else(|| Ok(vec![Vec::new(); functions.len()]))
}

/// A function in the source, and a line in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceSite {
    /// Its name where it was compiled into another, as all but the last of a list are.
    pub inlined: Option<String>,
    /// `queue.c:41`.
    pub line: String,
}

/// For each address the functions there, the innermost first; none where there is no debug information.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`].
pub(crate) fn source_sites(
    file: &File,
    addresses: &[u64],
    until: Instant,
) -> io::Result<Vec<Vec<SourceSite>>> {
    let of_addresses = |context: &Lines<'_>| {
        let at = |&address: &u64| {
            check_time(until)?;
            Ok(sites(context, address).unwrap_or_default())
        };
        addresses.iter().map(at).collect()
    };
    with_lines(file, until, of_addresses)?.unwrap_or_else(|| Ok(vec![Vec::new(); addresses.len()]))
}

type Lines<'data> = Context<EndianSlice<'data, RunTimeEndian>>;

/// Reads the debug information of a file; none where it has none.
fn with_lines<T>(
    file: &File,
    until: Instant,
    read: impl FnOnce(&Lines<'_>) -> T,
) -> io::Result<Option<T>> {
    check_time(until)?;
    let data = ReadCache::new(file.try_clone()?);
    let Ok(object) = ObjectFile::parse(Bounded(&data)) else { return Ok(None) };
    let detached = if debug_bytes(&object) == 0 { debug_file(&object) } else { None };
    let Some(detached) = detached else { return with_lines_of(&object, until, read) };
    let data = ReadCache::new(detached);
    let Ok(object) = ObjectFile::parse(Bounded(&data)) else { return Ok(None) };
    with_lines_of(&object, until, read)
}

/// The size of the debug information, as it will be in memory.
fn debug_bytes<'data>(object: &ObjectFile<'data, impl ReadRef<'data>>) -> u64 {
    let is_debug = |name: &str| name.starts_with(".debug_");
    let sections = object.sections().filter(|section| section.name().is_ok_and(is_debug));
    let sizes = sections.filter_map(|s| Some(s.compressed_data().ok()?.uncompressed_size));
    sizes.fold(0, u64::saturating_add)
}

fn with_lines_of<'data, T>(
    object: &ObjectFile<'data, impl ReadRef<'data>>,
    until: Instant,
    read: impl FnOnce(&Lines<'_>) -> T,
) -> io::Result<Option<T>> {
    if !(1..=DEBUG_BYTES_MAX).contains(&debug_bytes(object)) {
        return Ok(None);
    }
    let endian = if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let load = |id: SectionId| {
        check_time(until)?;
        let section = object.section_by_name(id.name());
        let bytes = section.and_then(|section| section.uncompressed_data().ok());
        Ok::<_, io::Error>(bytes.unwrap_or_default())
    };
    let sections = DwarfSections::load(load)?;
    check_time(until)?;
    let dwarf = sections.borrow(|bytes| EndianSlice::new(bytes, endian));
    Ok(Context::from_dwarf(dwarf).ok().map(|context| read(&context)))
}

fn sites(context: &Lines<'_>, address: u64) -> Option<Vec<SourceSite>> {
    let mut frames = context.find_frames(address).skip_all_loads().ok()?;
    let mut sites = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        let Some((path, line)) = frame.location.and_then(|at| at.file.zip(at.line)) else {
            continue;
        };
        let file = path.rsplit('/').next().unwrap_or(path);
        let name = frame.function.and_then(|function| Some(readable(&function.raw_name().ok()?)));
        sites.push(SourceSite { inlined: name, line: format!("{file}:{line}") });
    }
    // The last is a function by itself, which has a symbol.
    sites.last_mut()?.inlined = None;
    Some(sites)
}

fn lines(context: &Lines<'_>, start: u64, length: u64) -> Option<Vec<(u64, String)>> {
    let ranges = context.find_location_range(start, start.checked_add(length)?).ok()?;
    let mut lines: Vec<(u64, String)> = Vec::new();
    for (address, _, location) in ranges {
        let (Some(path), Some(line)) = (location.file, location.line) else { continue };
        let line = format!("{}:{line}", shortened(path));
        if lines.last().is_none_or(|(_, last)| *last != line) {
            lines.push((address.saturating_sub(start), line));
        }
    }
    Some(lines)
}

/// The end of a path: where a file is below depends on where it was compiled.
fn shortened(path: &str) -> &str {
    path.rmatch_indices('/').nth(PATH_PARTS - 1).map_or(path, |(at, _)| &path[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_end_of_a_path_is_kept() {
        assert_eq!(shortened("/home/me/linux/net/unix/af_unix.c"), "net/unix/af_unix.c");
        assert_eq!(shortened("a.c"), "a.c");
        assert_eq!(shortened("src/a.c"), "src/a.c");
    }

    #[test]
    fn a_file_without_debug_information_has_no_lines() {
        let text = std::env::temp_dir().join(format!("knee-no-lines-{}", std::process::id()));
        std::fs::write(&text, "no program").unwrap();
        let file = File::open(&text).unwrap();
        std::fs::remove_file(text).unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        assert_eq!(source_lines(&file, &[(0, 10), (10, 5)], until).unwrap(), [[], []]);
        let late = source_lines(&file, &[(0, 10)], Instant::now()).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    }
}
