//! What was recorded of a machine, by the keys that it may stand under.

use model::Host;

/// The first of `keys` that was recorded.
pub(super) fn fact<'a>(host: &'a Host, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| host.facts.get(*key)).map(String::as_str)
}
