//! Files that are read whole.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The bytes of a file.
///
/// # Errors
/// A device or a pipe is refused: it may never end, or block. So is a file of more than `mib_max` MiB.
pub fn read(path: &Path, mib_max: u64) -> io::Result<Vec<u8>> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let bytes_max = mib_max << 20;
    let mut bytes = Vec::new();
    // The size of a file below /proc is 0, and any file may grow meanwhile.
    if metadata.len() <= bytes_max {
        file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    }
    if metadata.len().max(bytes.len() as u64) > bytes_max {
        return Err(io::Error::other(format!("larger than {mib_max} MiB")));
    }
    Ok(bytes)
}

/// The same of a file that has to be text.
pub fn read_text(path: &Path, mib_max: u64) -> io::Result<String> {
    let text = String::from_utf8(read(path, mib_max)?);
    text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_and_what_is_too_large_is_refused() {
        let refused = |path: &Path| read(path, 1).unwrap_err().to_string();
        assert_eq!(refused(Path::new("/dev/zero")), "not a regular file");
        assert_eq!(refused(&std::env::temp_dir()), "not a regular file");
        let path = std::env::temp_dir().join(format!("knee-sys-file-{}", std::process::id()));
        std::fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
        assert_eq!(read_text(&path, 1).unwrap().len(), 1 << 20);
        std::fs::write(&path, vec![0xff; (1 << 20) + 1]).unwrap();
        assert_eq!(refused(&path), "larger than 1 MiB");
        assert_eq!(read_text(&path, 2).unwrap_err().kind(), io::ErrorKind::InvalidData);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read(&path, 1).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
