//! That a run is being measured, for other processes to see.

use crate::exit::Trouble;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use sys::byte_lock::{self, Mode};

/// SQLite locks bytes of a record far before this one.
const FIRST_BYTE: i64 = 1 << 62;

/// The records with locks of this process. They stay open until it ends: with the first descriptor of a file that it closes,
/// a process loses the locks that SQLite has on the file.
static RECORDS: Mutex<BTreeMap<PathBuf, File>> = Mutex::new(BTreeMap::new());

/// Held while a run is being measured, so that no second process measures or deletes it. The kernel takes it back whenever and
/// however the process ends: it is a name in the process's network namespace, and a lock on a byte of the record's file, which
/// has no such byte. The lock is seen from other namespaces, and from machines that share the file.
pub struct Claim {
    _socket: UnixListener,
    lock: Option<Lock>,
}

impl Claim {
    /// Claims the run of this id, unless another process has. Its `record` is a file, or has no processes that measure.
    pub fn new(id: &str, record: Option<&Path>) -> Result<Claim, Trouble> {
        let address = SocketAddr::from_abstract_name(format!("knee-run-{id}"));
        let claimed = address.and_then(|address| UnixListener::bind_addr(&address));
        let taken = || {
            let what = "is being measured by another process; wait for it to end";
            Trouble::failed(format!("run {id} {what}"))
        };
        let socket = claimed.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => taken(),
            _ => Trouble::failed(format!("claiming run {id}: {error}")),
        })?;
        let lock = match record.map(|record| Lock::take(record, id)) {
            Some(Ok(None)) => return Err(taken()),
            Some(Ok(lock)) => lock,
            // Where a file system has no locks, the name has to do.
            Some(Err(_)) | None => None,
        };
        Ok(Claim { _socket: socket, lock })
    }

    /// Whether it excludes processes in all namespaces of this machine.
    pub fn is_certain(&self) -> bool {
        self.lock.is_some()
    }
}

struct Lock {
    record: PathBuf,
    byte: i64,
}

impl Lock {
    /// Locks the byte of the run with this id; none where another process has.
    fn take(record: &Path, id: &str) -> io::Result<Option<Lock>> {
        let record = record.canonicalize()?;
        let mut records = records();
        if !records.contains_key(&record) {
            records.insert(record.clone(), open(&record)?);
        }
        let (file, byte) = (&records[&record], byte_of(id));
        let is_locked = match byte_lock::try_lock(file, byte, Mode::Exclusive) {
            // Of a record that can only be read.
            Err(_) => byte_lock::try_lock(file, byte, Mode::Shared)?,
            Ok(is_locked) => is_locked,
        };
        // Made only if it is locked: its end unlocks the byte.
        Ok(is_locked.then(|| Lock { record, byte }))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(file) = records().get(&self.record) {
            let _ = byte_lock::unlock(file, self.byte);
        }
    }
}

fn records() -> MutexGuard<'static, BTreeMap<PathBuf, File>> {
    RECORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open(record: &Path) -> io::Result<File> {
    let to_write = File::options().read(true).write(true).open(record);
    to_write.or_else(|_| File::open(record))
}

/// A byte for each id, the same in all versions of knee (FNV-1a).
fn byte_of(id: &str) -> i64 {
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    FIRST_BYTE | (hash >> 2).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_far_behind_those_of_sqlite_and_within_any_file() {
        for id in ["", "0123456789abcdef", "ffffffffffffffff"] {
            assert!((FIRST_BYTE..i64::MAX).contains(&byte_of(id)), "{id}");
        }
        assert_ne!(byte_of("0123456789abcdef"), byte_of("0123456789abcdee"));
    }
}
