//! A tree is read into the page cache, as kernbench did before its first run.

use engine::Failure;
use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};

/// Reads every file below `tree`, but for those in directories whose name begins with a dot: a repository's
/// own. Links are not followed: they may lead anywhere.
pub(super) fn read(tree: &Path) -> Result<(), Failure> {
    let mut directories: Vec<PathBuf> = vec![tree.to_owned()];
    while let Some(directory) = directories.pop() {
        let failed = |error| Failure::call(format!("reading {}", directory.display()), error);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() && !is_hidden(&entry) {
                directories.push(entry.path());
            } else if kind.is_file() {
                // What may not be read the build can't read either, or does not need.
                let _ = File::open(entry.path())
                    .and_then(|mut file| io::copy(&mut file, &mut io::sink()));
            }
        }
    }
    Ok(())
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_not_followed_and_a_missing_directory_fails() {
        let directory = crate::builds::build::tests::directory("warm");
        fs::create_dir(directory.join(".git")).unwrap();
        fs::write(directory.join("a.c"), "int a;").unwrap();
        // Without end, if it were followed.
        std::os::unix::fs::symlink(&directory, directory.join("loop")).unwrap();
        read(&directory).unwrap();
        let gone = directory.join("gone");
        assert!(read(&gone).unwrap_err().to_string().contains("gone: No such file"));
        fs::remove_dir_all(directory).unwrap();
    }
}
