//! Names as people type them: families of names, and what a mistyped name may have meant.

use std::collections::HashSet;

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

/// The names that were probably meant, as a question; none where no name is like `typed`.
pub fn did_you_mean(typed: &str, names: &[&str]) -> Option<String> {
    let nearest = nearest(typed, names);
    (!nearest.is_empty()).then(|| format!("did you mean {}?", nearest.join(" or ")))
}

/// The families among `names`: `epoll` of `epoll-level` and `epoll-edge`. A name itself is no family.
pub fn families<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut families = Vec::new();
    for (family, _) in names.iter().filter_map(|name| name.split_once('-')) {
        let is_new = !names.contains(&family) && !families.contains(&family);
        if is_new && members(family, names).count() > 1 {
            families.push(family);
        }
    }
    families
}

/// The names that `typed` stands for: each name itself, and for a family all of its members.
pub fn expanded(typed: &[String], names: &[&str]) -> Vec<String> {
    let families = families(names);
    let mut all: Vec<String> = Vec::new();
    for name in typed {
        let members = members(name, names).filter(|_| families.contains(&name.as_str()));
        let members: Vec<String> = members.map(str::to_owned).collect();
        let meant = if members.is_empty() { vec![name.clone()] } else { members };
        all.extend(meant);
    }
    let mut seen = HashSet::new();
    all.retain(|name| seen.insert(name.clone()));
    all
}

/// The names that begin with `family` and a hyphen.
fn members<'a>(family: &str, names: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let prefix = format!("{family}-");
    names.iter().copied().filter(move |name| name.starts_with(&prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_stands_for_its_members_and_a_name_for_itself() {
        let names =
            ["epoll-level", "epoll-edge", "poll", "file", "file-populate", "file-x", "is-a"];
        assert_eq!(families(&names), ["epoll"]);
        let expanded = |typed: &[&str]| {
            expanded(&typed.iter().map(ToString::to_string).collect::<Vec<String>>(), &names)
        };
        assert_eq!(expanded(&["epoll"]), ["epoll-level", "epoll-edge"]);
        assert_eq!(expanded(&["epoll-edge", "epoll"]), ["epoll-edge", "epoll-level"]);
        assert_eq!(expanded(&["file", "is", "epol"]), ["file", "is", "epol"]);
        assert_eq!(expanded(&[]), [""; 0]);
    }

    #[test]
    fn the_nearest_names_are_those_that_begin_so_or_look_alike() {
        let names = ["poll", "ppoll", "epoll-level", "epoll-edge", "select"];
        assert_eq!(nearest("epol", &names), ["epoll-edge", "epoll-level"]);
        assert_eq!(nearest("selct", &names), ["select"]);
        assert_eq!(nearest("", &names), [""; 0]);
        assert_eq!(nearest("zzz", &names), [""; 0]);
    }
}
