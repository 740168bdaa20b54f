//! Files of `/proc`, read within bounds.

use std::fs::File;
use std::io::Read;

/// The most that is read of a file.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// The start of a text file, whatever it holds.
pub(crate) fn read(path: &str) -> Option<String> {
    // Most of these files fit: two reads, where an empty buffer would be grown by many.
    let mut bytes = Vec::with_capacity(4096);
    File::open(path).ok()?.take(TEXT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
