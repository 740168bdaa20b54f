//! Which pages of a file are in the page cache: mincore.

use crate::answer::done;
use crate::map::{Behind, Map, page_bytes};
use std::fs::File;
use std::io;

/// How many pages of the first `bytes` of a file are in the page cache, and how many there are.
///
/// # Errors
/// As mmap(2) and mincore(2). To a process that neither owns the file nor may write to it the kernel
/// says that all of it is.
pub fn pages_cached(file: &File, bytes: usize) -> io::Result<(usize, usize)> {
    if bytes == 0 {
        return Ok((0, 0));
    }
    let map = Map::new(Behind::File(file, 0), bytes)?;
    let mut states = vec![0_u8; bytes.div_ceil(page_bytes())];
    // SAFETY: the map is `bytes` long, and `states` has a byte for each of its pages.
    done(unsafe { libc::mincore(map.as_ptr().cast(), bytes, states.as_mut_ptr()) })?;
    Ok((states.iter().filter(|&&state| state & 1 != 0).count(), states.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_just_written_is_in_the_cache() {
        let path = std::env::temp_dir().join(format!("knee-cached-{}", std::process::id()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(pages_cached(&file, 0).unwrap(), (0, 0));
        let page = crate::map::page_bytes();
        file.write_all(&vec![1; 3 * page]).unwrap();
        assert_eq!(pages_cached(&file, 3 * page - 1).unwrap(), (3, 3));
        // The last page of six exists and holds nothing: those before it were never written.
        file.set_len(6 * page as u64).unwrap();
        assert_eq!(pages_cached(&file, 6 * page).unwrap(), (3, 6));
    }
}
