//! The C library of this machine's programs, by the loader that starts its shell. A static knee has one of its own.

use std::fs::File;
use std::io::Read;
use std::sync::LazyLock;

/// The loader's path is in the first page of a program.
const HEAD_BYTES: u64 = 4096;

/// Its name; none where the shell is linked statically, as that of busybox may be.
pub(crate) fn name() -> &'static str {
    static NAME: LazyLock<&str> = LazyLock::new(|| {
        let mut head = Vec::new();
        let read = File::open("/bin/sh").map(|sh| sh.take(HEAD_BYTES).read_to_end(&mut head));
        let has = |loader: &[u8]| head.windows(loader.len()).any(|window| window == loader);
        match read {
            Ok(Ok(_)) if has(b"/ld-musl-") => "musl",
            Ok(Ok(_)) if has(b"/ld-linux") || has(b"/ld64.so") => "glibc",
            _ => "none",
        }
    });
    *NAME
}

/// The note of a subject that calls the C library within a worker: where that is not the machine's own.
pub(crate) fn note() -> String {
    let is_own = cfg!(all(target_feature = "crt-static", target_env = "gnu"));
    is_own.then(|| note_on(name())).flatten().unwrap_or_default()
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
