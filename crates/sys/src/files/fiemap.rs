//! In how many pieces a file lies on its disk: the ioctl FIEMAP.

use crate::answer::done;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// `FS_IOC_FIEMAP`, that is `_IOWR('f', 11, struct fiemap)`.
const FIEMAP: libc::Ioctl = libc::_IOWR::<Head>(b'f' as u32, 11);
/// `FIEMAP_FLAG_SYNC`: what is only in memory is written first, and then has a place.
const SYNC: u32 = 1;
/// `FIEMAP_EXTENT_LAST`.
const LAST: u32 = 1;
/// Extents that one call tells.
const BATCH: usize = 256;

/// The kernel's `struct fiemap` without its extents.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Head {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// The kernel's `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved_64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct FiemapRequest {
    head: Head,
    extents: [Extent; BATCH],
}

/// The number of pieces that lie apart from each other on the disk: neighbours in the file that are
/// neighbours on the disk are one piece.
///
/// # Errors
/// `EOPNOTSUPP` where the file system does not tell, such as tmpfs.
pub fn pieces(file: &File) -> io::Result<u64> {
    let (mut pieces, mut start, mut end) = (0, 0, None);
    loop {
        let head = Head {
            start,
            length: u64::MAX - start,
            flags: SYNC,
            extent_count: BATCH as u32,
            ..Head::default()
        };
        let mut request = FiemapRequest { head, extents: [Extent::default(); BATCH] };
        // SAFETY: the request is as the kernel declares it, with room for as many extents as it says.
        done(unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP, &raw mut request) })?;
        let count = (request.head.mapped_extents as usize).min(BATCH);
        for extent in &request.extents[..count] {
            pieces += u64::from(end != Some(extent.physical));
            end = Some(extent.physical + extent.length);
            start = extent.logical + extent.length;
        }
        if count < BATCH || request.extents[count - 1].flags & LAST != 0 {
            return Ok(pieces);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_file_with_holes_lies_in_pieces() {
        assert_eq!((size_of::<Head>(), size_of::<Extent>()), (32, 56));
        let path = std::env::temp_dir().join(format!("knee-fiemap-{}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        match pieces(&file) {
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                eprintln!("SKIPPED: the file system does not tell");
                return;
            }
            none => assert_eq!(none.unwrap(), 0),
        }
        file.write_all_at(&[1; 4096], 0).unwrap();
        assert_eq!(pieces(&file).unwrap(), 1);
        // Last things first, each on the disk before the next has a place: none follows the other.
        for n in (1..600_u64).rev() {
            file.write_all_at(&[1; 4096], n * 8192).unwrap();
            file.sync_data().unwrap();
        }
        let many = pieces(&file).unwrap();
        assert!((300..=600).contains(&many), "{many}");
    }
}
