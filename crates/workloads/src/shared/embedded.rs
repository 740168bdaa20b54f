//! Programs of ours that are embedded in this one, and run from memory.

use super::c_library;
use super::runner::is_installed;
use engine::Scratch;
use flate2::read::DeflateDecoder;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// How a program is compiled where it runs, as `build.rs` does: a loop that is measured reads a number at a time.
const FLAGS: [&str; 5] =
    ["-O2", "-std=gnu11", "-fno-tree-vectorize", "-fno-tree-slp-vectorize", "-Wl,-S"];
const COMPILER: &str = "cc";

/// The forker and the starter, linked statically; empty where that could not be done.
pub(crate) const STATIC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/static.deflate"));

/// Whether programs that are started from now on get a program in memory under the same number.
#[derive(Clone, Copy)]
pub(crate) enum Inherited {
    Yes,
    No,
}

/// A program that is linked dynamically: what is measured of the C library is that of this machine.
pub(crate) struct Native {
    pub name: &'static str,
    /// The program as this one's builder linked it, compressed.
    pub packed: &'static [u8],
    /// Its files, by the paths that they include each other by.
    pub sources: &'static [(&'static str, &'static str)],
}

impl Native {
    /// The program in memory. Where this machine can't run the embedded one, because it has another C library or an older
    /// one, its compiler makes one.
    pub fn in_memory(&self, inherited: Inherited) -> io::Result<File> {
        let embedded = in_memory(self.name, self.packed, inherited)?;
        if starts(&embedded) {
            return Ok(embedded);
        }
        hold(self.name, &self.compiled(COMPILER)?, inherited)
    }

    /// Whether it runs here, or a compiler may make one that does. It is tried only where knee itself runs with another C
    /// library than it.
    pub fn available(&self) -> Result<(), String> {
        // All of them are linked alike.
        static TRIED: OnceLock<Result<(), String>> = OnceLock::new();
        let is_static = cfg!(target_feature = "crt-static");
        let tried = || if is_static { self.tried(COMPILER) } else { Ok(()) };
        TRIED.get_or_init(|| tried().map_err(|error| error.to_string())).clone()
    }

    fn tried(&self, compiler: &str) -> io::Result<()> {
        let embedded = in_memory(self.name, self.packed, Inherited::No)?;
        let may_run = starts(&embedded) || is_installed(compiler);
        if may_run { Ok(()) } else { Err(refused(compiler, "is not installed")) }
    }

    /// Asserts that its sources are all that its compilation needs.
    #[cfg(test)]
    pub fn assert_compiles(&self) {
        let program = self.compiled(COMPILER).unwrap();
        let program = hold(self.name, &program, Inherited::No).unwrap();
        assert!(starts(&program), "{}", self.name);
    }

    /// What the compiler of this machine makes of the sources.
    fn compiled(&self, compiler: &str) -> io::Result<Vec<u8>> {
        let path = std::env::temp_dir().join(format!("knee-cc-{:016x}", fastrand::u64(..)));
        let scratch = Scratch::new(&path)?;
        // No directory of the sources is called so.
        let out = scratch.path().join("program");
        let mut command = Command::new(compiler);
        command.args(FLAGS).arg("-o").arg(&out).current_dir(scratch.path());
        for (path, text) in self.sources {
            let file = scratch.path().join(path);
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&file, text)?;
            if file.extension().is_some_and(|extension| extension == "c") {
                command.arg(path);
            }
        }
        let made = command.stdin(Stdio::null()).output();
        let made = made.map_err(|error| refused(compiler, &error.to_string()))?;
        if !made.status.success() {
            let text = String::from_utf8_lossy(&made.stderr);
            return Err(refused(compiler, text.lines().next().unwrap_or("failed")));
        }
        fs::read(&out)
    }
}

fn refused(compiler: &str, why: &str) -> io::Error {
    io::Error::other(format!(
        "this machine's C library ({}) can't run the program that knee has, and no other could be made: {compiler} \
         {why} → install gcc and the headers of the C library",
        c_library::name()
    ))
}

/// Whether a program starts here. Without arguments each of ours says that it failed, or has nothing to say.
fn starts(program: &File) -> bool {
    let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
    let ran = command.stdin(Stdio::null()).output();
    ran.is_ok_and(|ran| ran.status.success() || ran.stdout.starts_with(b"failed"))
}

/// A program in memory that can be run, of what `build.rs` compressed.
pub(crate) fn in_memory(name: &str, packed: &[u8], inherited: Inherited) -> io::Result<File> {
    let mut program = Vec::new();
    DeflateDecoder::new(packed).read_to_end(&mut program)?;
    hold(name, &program, inherited)
}

fn hold(name: &str, program: &[u8], inherited: Inherited) -> io::Result<File> {
    // The kernel would end this process by a signal.
    if getrlimit(Resource::Fsize).current.is_some_and(|max| max < program.len() as u64) {
        return Err(Errno::FBIG.into());
    }
    let flags = match inherited {
        Inherited::No => MemfdFlags::CLOEXEC,
        Inherited::Yes => MemfdFlags::empty(),
    };
    let made = match memfd_create(name, flags | MemfdFlags::EXEC) {
        // Kernels before 6.3 don't know the flag, and let all of them be run.
        Err(Errno::INVAL) => memfd_create(name, flags),
        result => result,
    };
    let mut file = File::from(made?);
    file.write_all(program)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: Native = Native {
        name: "hello",
        packed: b"\x01\x12\x00\xed\xff#!/no/such/loader\n",
        sources: &[("a/hello.c", include_str!("../../baseline/hello.c"))],
    };

    #[test]
    fn what_does_not_start_here_is_compiled_here() {
        assert!(!starts(&in_memory("hello", HELLO.packed, Inherited::No).unwrap()));
        HELLO.tried(COMPILER).unwrap();
        let program = HELLO.in_memory(Inherited::No).unwrap();
        assert!(starts(&program) && program.metadata().unwrap().len() > 1_000);
    }

    #[test]
    fn without_a_compiler_the_remedy_is_named() {
        let why = HELLO.tried("no-such-compiler").unwrap_err().to_string();
        assert!(
            why.contains("no-such-compiler is not installed") && why.contains("→ install gcc"),
            "{why}"
        );
        let wrong = Native { sources: &[("x.c", "int main(void) { return nothing; }")], ..HELLO };
        let why = wrong.compiled(COMPILER).unwrap_err().to_string();
        assert!(why.contains("x.c: In function"), "{why}");
    }
}
