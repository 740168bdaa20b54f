//! A tree is read into the page cache, as kernbench did before its first run.

use engine::Failure;
use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};

/// Reads every file below `tree`, but for those in folders whose name begins with a dot: a repository's
/// own. Links are not followed: they may lead anywhere.
pub(super) fn read(tree: &Path) -> Result<(), Failure> {
    let mut folders: Vec<PathBuf> = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error| Failure::call(format!("reading {}", folder.display()), error);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() && !is_hidden(&entry) {
                folders.push(entry.path());
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
    fn links_are_not_followed_and_what_is_no_folder_is_told() {
        let folder = crate::builds::build::tests::folder("warm");
        fs::create_dir(folder.join(".git")).unwrap();
        fs::write(folder.join("a.c"), "int a;").unwrap();
        // Without end, if it were followed.
        std::os::unix::fs::symlink(&folder, folder.join("loop")).unwrap();
        read(&folder).unwrap();
        let gone = folder.join("gone");
        assert!(read(&gone).unwrap_err().to_string().contains("gone: No such file"));
        fs::remove_dir_all(folder).unwrap();
    }
}
