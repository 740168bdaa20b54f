//! A value with a cache line of its own.

use std::ops::Deref;

/// Keeps a value apart from what others write. It takes two lines of 64 bytes, since processors fetch
/// them in pairs.
#[repr(align(128))]
#[derive(Debug, Default)]
pub struct CacheLine<T>(pub T);

impl<T> Deref for CacheLine<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
