//! The source lines of a function, from the debug information of its file.

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId};
use object::read::{File as ObjectFile, ReadCache};
use object::{Object, ObjectSection};
use std::fs::File;

/// More debug information than this is not read.
const DEBUG_BYTES_MAX: u64 = 256 << 20;
/// Directories of a path that are kept, with the file's name.
const PATH_PARTS: usize = 3;

/// The line at each offset from `start` where another one begins: `net/socket.c:1380`. None where the file has no
/// debug information.
pub(super) fn source_lines(file: &File, start: u64, length: u64) -> Option<Vec<(u64, String)>> {
    let data = ReadCache::new(file.try_clone().ok()?);
    let object = ObjectFile::parse(&data).ok()?;
    let is_debug = |name: &str| name.starts_with(".debug_");
    let sections = object.sections().filter(|section| section.name().is_ok_and(is_debug));
    let size: u64 = sections.map(|section| section.size()).sum();
    if size == 0 || size > DEBUG_BYTES_MAX {
        return None;
    }
    let endian = if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let load = |id: SectionId| {
        let section = object.section_by_name(id.name());
        let bytes = section.and_then(|section| section.data().ok()).unwrap_or_default();
        Ok::<_, addr2line::gimli::Error>(EndianSlice::new(bytes, endian))
    };
    let context = Context::from_dwarf(Dwarf::load(load).ok()?).ok()?;
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
        assert_eq!(source_lines(&File::open(&text).unwrap(), 0, 10), None);
        std::fs::remove_file(text).unwrap();
    }
}
