//! The connection to the socket that QEMU makes.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How often a socket that there is not yet is looked for.
const PAUSE: Duration = Duration::from_millis(10);

/// Connects to the socket `name` of `directory` as soon as there is one; `None` where `is_over` says so before.
///
/// # Errors
/// Why it can't be connected to, now or later.
pub(crate) fn connect(
    directory: &Path,
    name: &str,
    patience: Duration,
    is_over: &mut dyn FnMut() -> bool,
) -> io::Result<Option<UnixStream>> {
    let begun = Instant::now();
    let directory = File::open(directory)?;
    // The address of a socket has at most 107 bytes: less than a path may have.
    let path = format!("/proc/self/fd/{}/{name}", directory.as_raw_fd());
    loop {
        match UnixStream::connect(&path) {
            Ok(wire) => return Ok(Some(wire)),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {}
                _ => return Err(error),
            },
        }
        if is_over() || begun.elapsed() > patience {
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_socket_is_found_however_long_its_path_is() {
        let directory =
            std::env::temp_dir().join(format!("{}-{}", "x".repeat(200), std::process::id()));
        fs::create_dir(&directory).unwrap();
        let connected = |name: &str| connect(&directory, name, PAUSE, &mut || false);
        assert!(connected("wire").unwrap().is_none(), "nobody listens");
        let opened = File::open(&directory).unwrap();
        let _listener =
            UnixListener::bind(format!("/proc/self/fd/{}/wire", opened.as_raw_fd())).unwrap();
        assert!(connected("wire").unwrap().is_some());
        // What waiting does not repair is reported at once.
        symlink("loop", directory.join("loop")).unwrap();
        let begun = Instant::now();
        assert!(connect(&directory, "loop", Duration::from_secs(60), &mut || false).is_err());
        assert!(begun.elapsed() < Duration::from_secs(30));
        fs::remove_dir_all(&directory).unwrap();
    }
}
