//! What a user can do where a record can't be read or written, by the flags and commands of which an archive knows nothing.

use archive::{Error, Location, ServerFault};
use findings::format::shell_word;
use std::borrow::Cow;

/// Why a gate can't pass a figure of which the best end is not known.
pub const DIRECTION_IS_A_GUESS: &str =
    "it is a guess which is better; measure with --better lower or --better higher";

pub fn explained(error: &Error) -> String {
    match remedy(error).as_ref() {
        "" => error.to_string(),
        remedy => format!("{error}; {remedy}"),
    }
}

fn remedy(error: &Error) -> Cow<'static, str> {
    use Error as E;
    let remedy = match error {
        E::NoSuchRun { .. } => "`knee record list` shows what there is",
        E::EmptyRecord { .. } => "`knee run` measures one",
        E::NoRecord { .. } => "`knee run` makes one",
        E::NotAFile { .. } => "name a file with --record",
        E::NotAFileButAUrl { .. } => {
            "runs are measured into a file and then pushed (`knee run --push URL`, `knee record push URL`): name a file \
             with --record"
        }
        E::NoDataDirectory => "set HOME, or name a file with --record",
        E::NotThisFile { .. } | E::NoDirectory { .. } => "name another file with --record",
        E::ReadOnly { .. } => "make it writable (chmod u+w), or name another file with --record",
        E::ReadOnlyDirectory { .. } => "make it writable, or name another file with --record",
        E::ReadOnlyFileSystem { .. } => {
            "as root: mount -o remount,rw on it, or name another file with --record"
        }
        E::DiskFull { .. } => {
            "free some, then do it again; a run that began goes on by `knee run --resume`"
        }
        E::RunNotOpen { .. } => "`knee run --resume` opens it again",
        E::Damaged { path, .. } => match Location::from(path.as_os_str()) {
            Location::File(file) => {
                let salvage = format!("sqlite3 {} .recover", shell_word(&file.to_string_lossy()));
                let copy = "sqlite3 salvaged.db";
                return format!("restore it from a copy, or salvage it: {salvage} | {copy}").into();
            }
            Location::Postgres(_) => {
                "restore it from a copy, or delete the run that `knee record list` marks, and push it again"
            }
        },
        E::Server { fault: ServerFault::DiskFull, .. } => {
            "free some (`knee record prune`), then do it again"
        }
        E::Server { fault: ServerFault::NoArchive, .. } => "`knee record push` makes one",
        _ => "",
    };
    remedy.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_to_do_about_damage_is_of_the_kind_of_archive() {
        let message =
            |path: &str| explained(&Error::Damaged { path: path.into(), detail: "a hole".into() });
        assert!(message("knee.db").ends_with(
            "(a hole); restore it from a copy, or salvage it: sqlite3 knee.db .recover | sqlite3 salvaged.db"
        ));
        let message = message("postgres://db.lab/perf");
        assert!(message.contains("delete the run") && !message.contains("sqlite3"), "{message}");
    }
}
