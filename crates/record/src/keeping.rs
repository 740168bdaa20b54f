//! What every archive requires of figures before it keeps them, and how it writes them as JSON.

pub use crate::rows::{check_clock, check_metric, clean, count, json};
use crate::{Error, Profile, ProfiledCell};
use std::path::Path;

/// Refuses a profile that contradicts itself.
///
/// # Errors
/// [`Error::Invalid`].
pub fn check_profile(profile: &Profile, path: &Path) -> Result<(), Error> {
    profile.check().map_err(|what| Error::Invalid { path: path.into(), what })
}

/// The n-th cell of a profile that does not contradict itself.
///
/// # Errors
/// [`Error::Invalid`]; also where it has no such cell.
pub fn profiled_cell<'a>(
    profile: &'a Profile,
    index: usize,
    path: &Path,
) -> Result<&'a ProfiledCell, Error> {
    check_profile(profile, path)?;
    profile.cells.get(index).ok_or_else(|| {
        let what = format!("cell {index} of a profile of {}", profile.cells.len());
        Error::Invalid { path: path.into(), what }
    })
}
