//! Names as people type them: what a mistyped name may have meant.

/// The names most like `typed`, at most three, the nearest first, for the `did you mean …?` of a message.
/// Only names that begin with `typed`, where some do. Capitals make a difference.
pub fn nearest<'a>(typed: &str, names: &[&'a str]) -> Vec<&'a str> {
    let begins = |name: &str| !typed.is_empty() && name.starts_with(typed);
    let any_begins = names.iter().any(|name| begins(name));
    let mut candidates: Vec<(f64, &str)> = names
        .iter()
        .map(|&name| (strsim::jaro_winkler(typed, name), name))
        .filter(|&(likeness, name)| if any_begins { begins(name) } else { likeness > 0.75 })
        .collect();
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    candidates.dedup();
    candidates.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_are_those_that_begin_so_or_look_alike() {
        let names = ["poll", "ppoll", "epoll-level", "epoll-edge", "select"];
        assert_eq!(nearest("epol", &names), ["epoll-edge", "epoll-level"]);
        assert_eq!(nearest("selct", &names), ["select"]);
        assert_eq!(nearest("", &names), [""; 0]);
        assert_eq!(nearest("zzz", &names), [""; 0]);
    }
}
