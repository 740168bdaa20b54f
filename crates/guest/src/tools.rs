//! This machine's C compiler, make and shell, with all that they open while they build a small program: what a guest
//! needs for builds.
//!
//! The compiler itself says which headers it reads, which files it links and which programs it starts, and the loader
//! says which libraries a program has: no list of names that a distribution might change. Every file stands in the guest
//! where it stands here, but for the libraries, which the loader looks for in `/lib`.

use crate::root::{Carried, interpreter};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// What a build calls by name.
const PROGRAMS: [&str; 4] = ["sh", "make", "cc", "rm"];
/// What the compiler starts.
const PARTS: [&str; 4] = ["cc1", "collect2", "as", "ld"];
/// What the compiler and the linker open that neither lists: the linker's plugin, libraries that are texts and what these
/// name, and archives of which nothing is linked.
const UNLISTED: [&str; 6] =
    ["liblto_plugin.so", "libc.so", "libc_nonshared.a", "libgcc.a", "libgcc_s.so", "libgcc_s.so.1"];
/// The headers of a C program that uses nothing but the C library.
const SOURCE: &str = "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
                      int main(void) { return printf(\"%s\", getenv(\"HOME\")) < 0; }\n";

/// The files, where this machine has them; none where it has no make or no compiler. `directory` is used meanwhile.
///
/// # Errors
/// A file can't be read, or the compiler builds nothing.
pub fn build_tools(directory: &Path) -> io::Result<Vec<Carried>> {
    let mut tools = Tools { files: BTreeMap::new() };
    for name in PROGRAMS {
        let Some(program) = in_path(name) else { return Ok(Vec::new()) };
        // A program is looked for where make and the shell expect it.
        tools.program(&program, &program)?;
        tools.program(&Path::new("/bin").join(name), &program)?;
    }
    let cc = |words: &[&str]| output(Command::new("cc").args(words).current_dir(directory));
    for part in PARTS {
        let path = PathBuf::from(cc(&[&format!("-print-prog-name={part}")])?.trim());
        // A name without a directory is looked for in PATH.
        let path = if path.is_absolute() { Some(path) } else { in_path(part) };
        let path = path.ok_or_else(|| io::Error::other(format!("cc names no {part}")))?;
        tools.program(&path, &path)?;
    }
    for name in UNLISTED {
        let path = PathBuf::from(cc(&[&format!("-print-file-name={name}")])?.trim());
        if path.is_absolute() && path.exists() {
            tools.file(&path);
        }
    }
    fs::write(directory.join("probe.c"), SOURCE)?;
    let headers = cc(&["-O2", "-M", "probe.c"])?;
    let linked = cc(&["-O2", "-o", "probe", "probe.c", "-Wl,--trace"])?;
    let paths = headers.split_whitespace().chain(linked.split_whitespace()).map(Path::new);
    for path in paths.filter(|path| path.is_absolute() && path.is_file()) {
        // The object between compiler and linker is gone again.
        tools.file(path);
    }
    tools.read()
}

/// No program or library of a compiler is larger.
const MIB_MAX: u64 = 1024;

/// Which file of this machine stands where in the guest.
struct Tools {
    files: BTreeMap<PathBuf, PathBuf>,
}

impl Tools {
    /// A file that stands in the guest where it stands here, by the name that the compiler has for it.
    fn file(&mut self, path: &Path) {
        self.files.insert(plain(path), path.to_owned());
    }

    /// The program `source` as `path`, with its libraries.
    fn program(&mut self, path: &Path, source: &Path) -> io::Result<()> {
        self.files.insert(plain(path), source.to_owned());
        let Some(loader) = interpreter(&sys::file::read(source, MIB_MAX)?)? else { return Ok(()) };
        let listed = output(Command::new(&loader).arg("--list").arg(source))?;
        for line in listed.lines() {
            let Some((_, path)) = line.split_once("=> ") else { continue };
            let library = Path::new(path.split(" (").next().unwrap_or(path).trim());
            if let Some(name) = library.file_name().filter(|_| library.is_absolute()) {
                self.files.insert(Path::new("/lib").join(name), library.to_owned());
            }
        }
        Ok(())
    }

    fn read(self) -> io::Result<Vec<Carried>> {
        let read = |(path, source): (PathBuf, PathBuf)| {
            let content = sys::file::read(&source, MIB_MAX).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", source.display()))
            })?;
            Ok(Carried { path, content })
        };
        self.files.into_iter().map(read).collect()
    }
}

/// The path without `..`, which the compiler builds its paths with.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            component => plain.push(component),
        }
    }
    plain
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = std::env::split_paths(&path).map(|directory| directory.join(name));
    candidates.into_iter().find(|path| path.is_file())
}

/// What a program prints; or, of what it says of its failure, the last line.
fn output(command: &mut Command) -> io::Result<String> {
    let name = command.get_program().to_owned();
    let output = command.stdin(Stdio::null()).env("LC_ALL", "C").output();
    let output = output.map_err(sys::limits::explained)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let line = printable::one_line(errors.lines().next_back().unwrap_or("it failed"));
    Err(io::Error::other(format!("{}: {line}", Path::new(OsStr::new(&name)).display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_compiler_are_made_plain() {
        let path = "/usr/lib/gcc/x86_64-linux-gnu/12/../../../x86_64-linux-gnu/Scrt1.o";
        assert_eq!(plain(Path::new(path)), Path::new("/usr/lib/x86_64-linux-gnu/Scrt1.o"));
    }
}
