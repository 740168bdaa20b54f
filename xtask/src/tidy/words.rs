//! Retired words in identifiers: refused by tidy.

use super::Tree;
use super::code::{code_only, words};
use super::retired::{ALLOWED, ALLOWED_PATHS, INSIDE, Retired, WHOLE};
use std::collections::BTreeMap;

/// Identifiers that hold a retired word, one line for each in a file.
pub fn check(tree: &Tree) -> Vec<String> {
    tree.rust()
        .flat_map(|file| {
            let owner = tree.crate_of(&file.path).map_or("", |member| member.name.as_str());
            let code = ALLOWED_PATHS
                .iter()
                .fold(code_only(&file.text), |code, path| code.replace(path, ""));
            let mut first: BTreeMap<&str, usize> = BTreeMap::new();
            for (number, line) in code.lines().enumerate() {
                for identifier in words(line) {
                    first.entry(identifier).or_insert(number + 1);
                }
            }
            let hits = first.into_iter().filter_map(|(identifier, line)| {
                let retired = retired_in(identifier, owner)?;
                Some(format!(
                    "{}:{line}: {identifier} holds the retired word {:?}: write {}",
                    file.path.display(),
                    retired.word,
                    retired.instead
                ))
            });
            hits.collect::<Vec<String>>()
        })
        .collect()
}

/// The retired word that an identifier of a crate holds.
fn retired_in(identifier: &str, owner: &str) -> Option<&'static Retired> {
    let allowed = |name: &str| {
        let here = ALLOWED.iter().filter(|allowed| ["", owner].contains(&allowed.owner));
        here.into_iter().any(|allowed| allowed.name == name)
    };
    if allowed(identifier) {
        return None;
    }
    let whole = WHOLE.iter().find(|retired| retired.word == identifier);
    whole.or_else(|| {
        let parts = parts(identifier);
        let inside = |retired: &&Retired| parts.iter().any(|part| part == retired.word);
        INSIDE.iter().filter(inside).find(|retired| !allowed(retired.word))
    })
}

/// The words that an identifier is made of, in lower case: `in_flight`, `InFlight` and `IN_FLIGHT` are
/// the same two.
fn parts(identifier: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut after_lower = false;
    for char in identifier.chars() {
        if char == '_' || (char.is_uppercase() && after_lower) {
            parts.push(String::new());
        }
        if char != '_' {
            parts.last_mut().expect("never empty").extend(char.to_lowercase());
        }
        after_lower = char.is_lowercase() || char.is_numeric();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    fn refused(text: &str) -> usize {
        check(&tree(&[("crates/a/src/lib.rs", text)])).len()
    }

    #[test]
    fn an_identifier_is_split_into_its_words() {
        assert_eq!(parts("InFlight"), ["in", "flight"]);
        assert_eq!(parts("IN_FLIGHT"), ["in", "flight"]);
        assert_eq!(parts("p99_ns"), ["p99", "ns"]);
        assert_eq!(parts("foretold"), ["foretold"]);
    }

    #[test]
    fn retired_words_are_found_in_identifiers_and_nowhere_else() {
        for text in ["fn told() {}", "let was_told = 1;", "struct Told;", "const TOLD: u8 = 1;"] {
            assert_eq!(refused(text), 1, "{text}");
        }
        assert_eq!(refused("let of = 1;"), 1);
        for text in ["// told", "let x = \"told\";", "fn foretold() {}", "size_of::<u8>()"] {
            assert_eq!(refused(text), 0, "{text}");
        }
    }

    #[test]
    fn an_exception_holds_in_its_crate_only() {
        assert!(retired_in("c_void", "sys").is_none());
        assert!(retired_in("conditions", "http").is_none());
        assert!(retired_in("conditions", "report").is_some());
    }
}
