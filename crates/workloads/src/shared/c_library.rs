//! The C library of this machine's programs, by the loader that starts them. A static knee has one of its own.

use std::fs;

/// Its name.
pub(crate) fn name() -> &'static str {
    let has = |directory: &&str, prefix: &str| {
        let files = fs::read_dir(directory).into_iter().flatten().flatten();
        files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with(prefix))
    };
    let has_loader = |prefix| ["/lib", "/lib64"].iter().any(|directory| has(directory, prefix));
    match (has_loader("ld-musl-"), has_loader("ld-linux")) {
        // Alpine may have the loader of glibc, too, which loads musl.
        (true, _) => "musl",
        (false, true) => "glibc",
        (false, false) => "none",
    }
}

/// The note of a subject that calls the C library within a worker: where that is not the machine's own.
pub(crate) fn note() -> String {
    let is_own = cfg!(all(target_feature = "crt-static", target_env = "gnu"));
    note_on(name()).filter(|_| is_own).unwrap_or_default()
}

fn note_on(name: &str) -> Option<String> {
    let differs = name != "glibc";
    differs.then(|| format!("the glibc in knee, not this machine's C library ({name})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_c_library_is_noted() {
        assert_eq!(note_on("glibc"), None);
        assert!(note_on("musl").unwrap().ends_with("(musl)"));
    }

    #[test]
    fn the_machine_that_tests_has_a_c_library() {
        assert_ne!(name(), "none");
    }
}
