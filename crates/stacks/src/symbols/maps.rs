//! Which addresses of a process hold which files, from the text of its `maps` file.

/// A part of a process's memory that holds instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Where it begins in memory.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    /// The offset in the file that is mapped at `start`.
    pub offset: u64,
    /// The number of the file in its file system; 0 where there is no file.
    pub inode: u64,
    /// The file as the kernel names it, perhaps with ` (deleted)`, or a word like `[vdso]`; empty for
    /// memory without a file.
    pub path: String,
}

impl Mapping {
    /// The file's name without its directories and without ` (deleted)`.
    pub fn module(&self) -> &str {
        let path = self.path.strip_suffix(" (deleted)").unwrap_or(&self.path);
        let name = path.rsplit('/').next().unwrap_or_default();
        if name.is_empty() { "memory without a file" } else { name }
    }

    /// Whether its code is in a file on a disk, and was not made at run time.
    pub fn is_of_file(&self) -> bool {
        let made = ["/memfd:", "/dev/zero", "/anon_hugepage", "//anon", "/SYSV"];
        self.inode != 0 && !made.iter().any(|start| self.path.starts_with(start))
    }
}

/// The mappings of a process that hold instructions, in the order of their addresses.
#[derive(Clone, Debug, Default)]
pub struct Maps(Vec<Mapping>);

impl Maps {
    /// From the text of a `maps` file. Skips malformed lines.
    pub fn parse(text: &str) -> Maps {
        let mut maps: Vec<Mapping> = text.lines().filter_map(mapping).collect();
        // The kernel has them in order already.
        maps.sort_by_key(|mapping| mapping.start);
        Maps(maps)
    }

    /// Reads those of a process again; keeps the old ones if it has gone.
    pub(crate) fn refresh(&mut self, pid: u32) {
        if let Some(text) = sys::proc::text(pid, "maps").ok().filter(|text| !text.is_empty()) {
            *self = Maps::parse(&text);
        }
    }

    /// The mapping that holds `address`.
    pub fn find(&self, address: u64) -> Option<&Mapping> {
        let after = self.0.partition_point(|mapping| mapping.start <= address);
        self.0.get(after.checked_sub(1)?).filter(|mapping| address < mapping.end)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Mapping> {
        self.0.iter()
    }

    /// Adds a mapping. What was mapped there before is no longer, as far as the new one reaches.
    pub fn insert(&mut self, mapping: Mapping) {
        if mapping.start >= mapping.end {
            return;
        }
        let first = self.0.partition_point(|earlier| earlier.end <= mapping.start);
        let after = self.0.partition_point(|earlier| earlier.start < mapping.end);
        let mut new = Vec::with_capacity(3);
        for earlier in &self.0[first..after.max(first)] {
            if earlier.start < mapping.start {
                new.push(Mapping { end: mapping.start, ..earlier.clone() });
            }
        }
        let end = mapping.end;
        new.push(mapping);
        for earlier in &self.0[first..after.max(first)] {
            if earlier.end > end {
                let offset = earlier.offset.wrapping_add(end - earlier.start);
                new.push(Mapping { start: end, offset, ..earlier.clone() });
            }
        }
        self.0.splice(first..after.max(first), new);
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
        // The kernel writes a newline in a path as `\012`, so a path is never longer than its line.
        path: path.trim_start().to_owned(),
    };
    access.contains('x').then_some(mapping)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps_are_read_whatever_the_path() {
        let text = "\
55d0c0a00000-55d0c0b00000 r--p 00000000 fe:00 1311 /usr/bin/knee\n\
55d0c0b00000-55d0c0c00000 r-xp 00100000 fe:00 1311                       /tmp/my knee (deleted)\n\
7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n\
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]\n\
nonsense\n\
7f00-zz00 r-xp 00000000 00:00 0\n";
        let maps = Maps::parse(text);
        assert_eq!(maps.0.len(), 3, "{maps:?}");
        assert_eq!(maps.find(0x55d0_c0a0_0010), None, "nothing that can't be executed");
        let deleted = maps.find(0x55d0_c0b0_0010).unwrap();
        assert_eq!((deleted.inode, deleted.offset), (1311, 0x10_0000));
        assert_eq!(deleted.path, "/tmp/my knee (deleted)");
        assert_eq!(deleted.module(), "my knee");
        assert_eq!(maps.find(0x7f00_0000_0000).unwrap().module(), "memory without a file");
        assert_eq!(maps.find(0x7ffd_0000_1fff).unwrap().module(), "[vdso]");
        assert_eq!(maps.find(0x7ffd_0000_2000), None, "behind its end");
        assert_eq!(maps.find(0), None);
        let is_of_file = [deleted.start, 0x7f00_0000_0000, 0x7ffd_0000_0000]
            .map(|address| maps.find(address).unwrap().is_of_file());
        assert_eq!(is_of_file, [true, false, false]);
    }

    #[test]
    fn a_new_mapping_replaces_what_it_covers() {
        let mapping = |start, end, path: &str| Mapping {
            start,
            end,
            offset: start,
            inode: 7,
            path: path.to_owned(),
        };
        let mut maps = Maps::default();
        for new in
            [mapping(0x100, 0x400, "a"), mapping(0x400, 0x500, "b"), mapping(0x800, 0x900, "c")]
        {
            maps.insert(new);
        }
        maps.insert(mapping(0x200, 0x300, "d"));
        let at = |maps: &Maps, address| {
            maps.find(address)
                .map(|mapping| (mapping.path.clone(), address - mapping.start + mapping.offset))
        };
        let is = |path: &str, offset| Some((path.to_owned(), offset));
        assert_eq!(at(&maps, 0x1ff), is("a", 0x1ff));
        assert_eq!(at(&maps, 0x200), is("d", 0x200));
        assert_eq!(at(&maps, 0x300), is("a", 0x300), "its end is still there, with its own offset");
        assert_eq!(at(&maps, 0x4ff), is("b", 0x4ff));
        assert_eq!(at(&maps, 0x500), None);
        maps.insert(mapping(0x180, 0x850, "e"));
        assert_eq!(maps.0.len(), 3, "{maps:?}");
        assert_eq!(at(&maps, 0x17f), is("a", 0x17f));
        assert_eq!(at(&maps, 0x450), is("e", 0x450));
        assert_eq!(at(&maps, 0x850), is("c", 0x850));
        maps.insert(mapping(0x20, 0x10, "turned"));
        assert_eq!(maps.0.len(), 3, "{maps:?}");
    }
}
