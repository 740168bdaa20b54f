//! The kernel's version, where no call shows what it does.

/// From this version on, io_uring's rings do not count as locked memory.
pub const URING_IS_NOT_LOCKED: (u32, u32) = (5, 12);

/// Whether the kernel of this release (`6.1.0-13-amd64`) is of `version` or later. Of an odd release it is not known:
/// no.
pub fn is_at_least(release: &str, version: (u32, u32)) -> bool {
    let mut numbers = release.split(|byte: char| !byte.is_ascii_digit()).map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= version,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_compared_by_its_numbers() {
        for (release, is_later) in [
            ("5.12.0", true),
            ("5.4.0-150-generic", false),
            ("6.1-rc3", true),
            ("10.0.1", true),
            ("4.19.0", false),
            ("5", false),
            ("odd", false),
        ] {
            assert_eq!(is_at_least(release, URING_IS_NOT_LOCKED), is_later, "{release}");
        }
    }
}
