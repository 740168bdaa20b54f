//! The root of a guest: this program, what it is linked with, and nothing else, as an initramfs.
//!
//! The libraries are those that this process has mapped: no list of names that a distribution might change. The
//! program is cut behind its last loadable segment: debug information is five times as long as all the rest.

use cpio::newc;
use object::Endianness;
use object::elf::{FileHeader64, PT_INTERP, PT_LOAD};
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where the kernel looks for its first program.
const INIT: &str = "init";
/// Directories that file systems are mounted on.
const DIRECTORIES: [&str; 6] = ["dev", "proc", "sys", "tmp", "run", "lib"];
const EXECUTABLE: u32 = 0o100_755;
const DIRECTORY: u32 = 0o040_755;

/// A file that a guest has besides its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Where, from the root.
    pub path: PathBuf,
    /// What is in it.
    pub content: Vec<u8>,
}

/// Writes the initramfs of `program`, which is this one, with the files that are `carried`, to `out`.
///
/// # Errors
/// Why something of it can't be read or written.
pub fn write_initramfs(
    program: &Path,
    carried: &[Carried],
    out: &mut impl Write,
) -> io::Result<()> {
    let bytes = fs::read(program)?;
    let Segments { end, interpreter } = segments(&bytes)?;
    let mut archive = Archive { out, number: 0, made: BTreeSet::new() };
    for directory in DIRECTORIES {
        archive.directory(Path::new(directory))?;
    }
    archive.file(Path::new(INIT), &bytes[..end])?;
    if let Some(interpreter) = interpreter {
        let loader = fs::read(&interpreter)?;
        archive.file(&interpreter, &loader)?;
    }
    for library in libraries(&fs::read_to_string("/proc/self/maps")?) {
        // The loader looks there in any case, whatever directories it was built for.
        let name = library.file_name().unwrap_or_default();
        archive.file(&Path::new("lib").join(name), &fs::read(&library)?)?;
    }
    for Carried { path, content } in carried {
        archive.file(path, content)?;
    }
    newc::trailer(archive.out).map(drop)
}

/// An initramfs while it is written.
struct Archive<'a, W> {
    out: &'a mut W,
    /// How many entries it has: each is an inode.
    number: u32,
    /// The files and directories that are in it.
    made: BTreeSet<PathBuf>,
}

impl<W: Write> Archive<'_, W> {
    fn directory(&mut self, path: &Path) -> io::Result<()> {
        if path.as_os_str().is_empty() || !self.made.insert(path.to_owned()) {
            return Ok(());
        }
        self.directory(path.parent().unwrap_or(Path::new("")))?;
        self.entry(path, DIRECTORY, &[])
    }

    fn file(&mut self, path: &Path, content: &[u8]) -> io::Result<()> {
        let path = path.strip_prefix("/").unwrap_or(path);
        if !self.made.insert(path.to_owned()) {
            return Ok(());
        }
        self.directory(path.parent().unwrap_or(Path::new("")))?;
        self.entry(path, EXECUTABLE, content)
    }

    fn entry(&mut self, path: &Path, mode: u32, content: &[u8]) -> io::Result<()> {
        self.number += 1;
        let length = u32::try_from(content.len());
        let length = length.map_err(|_| io::Error::other("the program is larger than 4 GiB"))?;
        let name = path.to_string_lossy();
        let builder = newc::Builder::new(&name).mode(mode).ino(self.number).nlink(1);
        let mut entry = builder.write(&mut *self.out, length);
        entry.write_all(content)?;
        entry.finish().map(drop)
    }
}

/// The program that loads this one, if it is linked dynamically; none of what is no program.
pub(crate) fn interpreter(bytes: &[u8]) -> io::Result<Option<PathBuf>> {
    if !bytes.starts_with(b"\x7fELF") {
        return Ok(None);
    }
    Ok(segments(bytes)?.interpreter)
}

/// What of an executable is needed to run it.
struct Segments {
    /// Where its last loadable segment ends, in bytes.
    end: usize,
    /// The program that loads it, if it is linked dynamically.
    interpreter: Option<PathBuf>,
}

fn segments(bytes: &[u8]) -> io::Result<Segments> {
    let foreign = |error: object::Error| io::Error::other(format!("the program: {error}"));
    let header = FileHeader64::<Endianness>::parse(bytes).map_err(foreign)?;
    let endian = header.endian().map_err(foreign)?;
    let (mut end, mut interpreter) = (0, None);
    for segment in header.program_headers(endian, bytes).map_err(foreign)? {
        let (offset, length) = segment.file_range(endian);
        match segment.p_type(endian) {
            PT_LOAD => end = end.max((offset + length) as usize),
            PT_INTERP => {
                let path = segment.data(endian, bytes).unwrap_or_default();
                let path = String::from_utf8_lossy(path);
                interpreter = Some(PathBuf::from(path.trim_end_matches('\0')));
            }
            _ => {}
        }
    }
    // The table of the sections is gone with what is cut off: nothing that runs needs it.
    Ok(Segments { end: end.min(bytes.len()), interpreter })
}

/// The shared objects of `maps`, a process's list of its mappings, each once.
fn libraries(maps: &str) -> BTreeSet<PathBuf> {
    let path = |line: &str| Some(PathBuf::from(&line[line.find('/')?..]));
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.contains(".so") && !name.starts_with("ld-")
    };
    maps.lines().filter_map(path).filter(is_library).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env::current_exe;

    #[test]
    fn the_root_has_the_program_its_loader_and_its_libraries() {
        let program = current_exe().unwrap();
        let mut archive = Vec::new();
        let knee_toml = Carried { path: "knee.toml".into(), content: b"[suite.a]".to_vec() };
        write_initramfs(&program, &[knee_toml], &mut archive).unwrap();
        let mut names = Vec::new();
        let mut rest = archive.as_slice();
        loop {
            let mut reader = newc::Reader::new(rest).unwrap();
            if reader.entry().is_trailer() {
                break;
            }
            let (name, mode) = (reader.entry().name().to_owned(), reader.entry().mode());
            let mut content = Vec::new();
            io::Read::read_to_end(&mut reader, &mut content).unwrap();
            if name == INIT {
                assert!(fs::read(&program).unwrap().starts_with(&content));
            }
            names.push((name, mode));
            rest = reader.finish().unwrap();
        }
        let has = |wanted: &str| names.iter().any(|(name, _)| name.contains(wanted));
        assert!(has("knee.toml"), "{names:?}");
        assert!(has(INIT) && has("ld-linux") && has("lib/libc.so"), "{names:?}");
        assert!(names.iter().filter(|(name, _)| name == "lib").count() == 1, "{names:?}");
    }

    #[test]
    fn libraries_are_mapped_shared_objects_each_once() {
        let maps = "7f00-7f01 r--p 00000000 fe:00 1 /usr/lib/libc.so.6\n\
            7f01-7f02 r-xp 00001000 fe:00 1 /usr/lib/libc.so.6\n\
            7f02-7f03 rw-p 00000000 00:00 0 \n\
            7f03-7f04 r--p 00000000 fe:00 2 /lib64/ld-linux-x86-64.so.2\n\
            5500-5501 r--p 00000000 fe:00 3 /home/a/knee\n";
        let libraries: Vec<PathBuf> = libraries(maps).into_iter().collect();
        assert_eq!(libraries, [Path::new("/usr/lib/libc.so.6")]);
    }
}
