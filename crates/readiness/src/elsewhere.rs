//! The part of a mechanism's file that stands in on the targets which lack the mechanism.

/// Declares the `available` and `open` of a mechanism that does not exist on this target: both
/// answer with the reason.
macro_rules! elsewhere {
    ($reason:literal) => {
        fn available() -> Result<(), $crate::Why> {
            Err($crate::Why($reason.to_owned()))
        }

        fn open(_capacity: usize) -> std::io::Result<Box<dyn $crate::Readiness>> {
            Err($crate::Why($reason.to_owned()).into())
        }
    };
}
pub(crate) use elsewhere;
