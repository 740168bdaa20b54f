//! Consoles of guests that died or whose kernel had an oops, kept for a reader: the newest of them.

use etcetera::BaseStrategy;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Older ones are removed.
const KEPT_MAX: usize = 20;

/// Copies the console at `path` into the cache; `None` where it is empty, or can't be kept.
pub fn keep(path: &Path, label: &str) -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    keep_in(&base.cache_dir().join("knee").join("consoles"), path, label).ok()?
}

fn keep_in(directory: &Path, path: &Path, label: &str) -> io::Result<Option<PathBuf>> {
    if fs::metadata(path)?.len() == 0 {
        return Ok(None);
    }
    fs::create_dir_all(directory)?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' };
    let name: String = label.chars().map(plain).take(80).collect();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let kept = directory.join(format!("{name}-{}.log", now.as_millis()));
    fs::copy(path, &kept)?;
    remove_old(directory)?;
    Ok(Some(kept))
}

fn remove_old(directory: &Path) -> io::Result<()> {
    let dated = |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut all: Vec<(SystemTime, PathBuf)> =
        fs::read_dir(directory)?.flatten().filter_map(dated).collect();
    all.sort();
    let old = all.len().saturating_sub(KEPT_MAX);
    all[..old].iter().try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_consoles_are_kept_under_plain_names() {
        let directory = tempfile::tempdir().unwrap();
        let (kept, console) = (directory.path().join("kept"), directory.path().join("console"));
        fs::write(&console, "").unwrap();
        assert_eq!(keep_in(&kept, &console, "6.1").unwrap(), None);
        fs::write(&console, "Kernel panic").unwrap();
        let path = keep_in(&kept, &console, "6.1.0 \u{b7} cpu max,-smap/../x").unwrap().unwrap();
        assert_eq!(path.parent(), Some(kept.as_path()));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.starts_with("6.1.0---cpu-max--smap-..-x-"), "{name}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "Kernel panic");
        for number in 0..2 * KEPT_MAX {
            fs::write(kept.join(format!("{number}.log")), "").unwrap();
        }
        remove_old(&kept).unwrap();
        assert_eq!(fs::read_dir(&kept).unwrap().count(), KEPT_MAX);
    }
}
