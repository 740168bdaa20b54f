//! Programs of ours that are embedded in this one, and run from memory.

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};

/// A program in memory that can be run.
pub(crate) fn in_memory(name: &str, program: &[u8]) -> io::Result<File> {
    hold(name, program, MemfdFlags::CLOEXEC)
}

/// The same, which programs that are started from now on get under the same number.
pub(crate) fn in_memory_of_all(name: &str, program: &[u8]) -> io::Result<File> {
    hold(name, program, MemfdFlags::empty())
}

fn hold(name: &str, program: &[u8], flags: MemfdFlags) -> io::Result<File> {
    let made = match memfd_create(name, flags | MemfdFlags::EXEC) {
        // Kernels before 6.3 don't know the flag, and let all of them be run.
        Err(Errno::INVAL) => memfd_create(name, flags),
        result => result,
    };
    let mut file = File::from(made?);
    file.write_all(program)?;
    Ok(file)
}
