//! What bounds the watched descriptors of mechanisms that a process's limit on descriptors does not.

use crate::readiness::objects::Object;
use crate::shared::shortage::available_kib;
use engine::{Fit, LimitCause};
use std::sync::OnceLock;
use sys::proc::setting;

/// The files that all processes together may have open.
const FILES_MAX: &str = "fs.file-max";
/// The items that all epoll instances of a user together may watch.
const WATCHES_MAX: &str = "fs.epoll.max_user_watches";

/// Of what the machine has, this part is left to others.
const LEFT_TO_OTHERS: u64 = 20;

/// Whether `watched` objects are possible on this machine, whatever one process may have; `here` are possible
/// in one process.
pub(super) fn beyond(object: Object, watched: u64, here: u64) -> Fit {
    let bounds = [files(object), Some(memory(object)), watches()];
    let strictest = bounds.into_iter().flatten().min_by_key(|bound| bound.0);
    match strictest {
        Some((max, cause, remedy)) if watched > max.max(here) => {
            Fit::AtMost { parameter: "watched", max: max.max(here), cause, remedy }
        }
        _ => Fit::Measure,
    }
}

/// The largest number that is possible, why, and what raises it.
type Bound = (u64, LimitCause, String);

fn files(object: Object) -> Option<Bound> {
    let free = free_files()?;
    Some(of_setting(FILES_MAX, free, object.descriptors() as u64))
}

/// What others have open counts. Read once: the plan has to treat all subjects alike.
fn free_files() -> Option<u64> {
    static FREE: OnceLock<Option<u64>> = OnceLock::new();
    *FREE.get_or_init(|| {
        let text: String = setting("fs.file-nr")?;
        let numbers: Vec<u64> =
            text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let &[open, _, max] = &numbers[..] else { return None };
        Some((max - max / LEFT_TO_OTHERS).saturating_sub(open))
    })
}

fn watches() -> Option<Bound> {
    let max: u64 = setting(WATCHES_MAX)?;
    Some(of_setting(WATCHES_MAX, max - max / LEFT_TO_OTHERS, 1))
}

/// A setting of which `free` are free, and `each` are needed for one.
fn of_setting(name: &str, free: u64, each: u64) -> Bound {
    let value = setting(name).unwrap_or(0);
    let cause = LimitCause::Setting { setting: name.to_owned(), max: value, each };
    (free / each, cause, format!("sysctl -w {name}={}", value.saturating_mul(4)))
}

fn memory(object: Object) -> Bound {
    let (available_kib, each_kib) = (available_kib(), object.memory_kib());
    let max = (available_kib - available_kib / LEFT_TO_OTHERS) / each_kib;
    let cause = LimitCause::Memory { available_mib: available_kib >> 10, each_kib };
    (max, cause, "end what else uses memory, or watch pipes: --object pipe".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_process_has_is_always_possible_and_no_machine_has_any_number() {
        for object in [Object::Socketpair, Object::Pipe, Object::Eventfd, Object::Tcp] {
            assert_eq!(beyond(object, 1_000, 1_000), Fit::Measure);
            let Fit::AtMost { max, .. } = beyond(object, u64::MAX, 1_000) else {
                panic!("{object:?}: any number is possible")
            };
            assert!(max >= 1_000);
            assert_eq!(beyond(object, max, 1_000), Fit::Measure, "{object:?}");
        }
    }
}
