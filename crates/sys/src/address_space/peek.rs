//! Memory of another process, read without stopping it: `process_vm_readv`.

use crate::answer::counted;
use std::io;

/// Reads the memory of process `pid` from `address` on, and returns how many bytes could be read.
///
/// # Errors
/// `EPERM` if the process may not be looked into, `ESRCH` if there is none, `EFAULT` if it has
/// nothing there.
pub fn read(pid: u32, address: u64, into: &mut [u8]) -> io::Result<usize> {
    let address = usize::try_from(address).map_err(|_| io::ErrorKind::InvalidInput)?;
    let length = into.len();
    let here = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: length };
    let there =
        libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: length };
    // SAFETY: `here` is one slice that may be written to; `there` is only a number to the kernel,
    // which checks it against the other process.
    counted(unsafe {
        libc::process_vm_readv(pid.cast_signed(), &raw const here, 1, &raw const there, 1, 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_memory_reads_the_same() {
        let text = *b"what stands here";
        let mut got = [0; 16];
        let address = text.as_ptr().addr() as u64;
        assert_eq!(read(std::process::id(), address, &mut got).unwrap(), 16);
        assert_eq!(got, text);
    }

    #[test]
    fn nothing_and_no_process_are_errors() {
        let mut got = [0; 8];
        let error = read(std::process::id(), 8, &mut got).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EFAULT));
        assert!(read(0x7fff_fff0, 4096, &mut got).is_err());
    }
}
