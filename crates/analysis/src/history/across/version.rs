//! Versions in their order: `6.2` before `6.12`, `7.0-rc3` before `7.0`.

use std::cmp::Ordering;

/// Whether `text` begins as versions do: `6.1`, `v6.12-rc1`, `5.10.0-33-cloud-amd64`.
pub(super) fn is_version(text: &str) -> bool {
    let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
    let digits = |part: Option<&str>| {
        part.is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()))
    };
    digits(parts.next()) && digits(parts.next())
}

pub(super) fn compare(first: &str, second: &str) -> Ordering {
    parts(first).cmp(&parts(second)).then_with(|| first.cmp(second))
}

/// A part of a version. A candidate comes before all else, also before the version that ends there, and words come before
/// numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Candidate,
    End,
    Word(String),
    Number(u64),
}

fn parts(text: &str) -> Vec<Part> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts = Vec::new();
    for run in text.split(['.', '-', '+', '_', '~', ' ']).filter(|run| !run.is_empty()) {
        let mut rest = run;
        while let Some(first) = rest.chars().next() {
            let is_digit = first.is_ascii_digit();
            let end = rest.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(rest.len());
            let (part, further) = rest.split_at(end);
            parts.push(match part.parse() {
                Ok(number) if is_digit => Part::Number(number),
                _ if part == "rc" => Part::Candidate,
                _ => Part::Word(part.to_owned()),
            });
            rest = further;
        }
    }
    parts.push(Part::End);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_recognised() {
        for version in ["6.1", "v6.12-rc1", "5.10.0-33-cloud-amd64", "6.12.90+deb12-cloud-amd64"] {
            assert!(is_version(version), "{version}");
        }
        for word in ["", "3701d31", "main", "6", "v", "a.b", "6.x"] {
            assert!(!is_version(word), "{word}");
        }
    }

    #[test]
    fn versions_are_ordered_by_their_numbers_and_candidates_come_first() {
        let sorted = [
            "4.19.0-27-amd64",
            "5.10.0-9-cloud-amd64",
            "5.10.0-33-cloud-amd64",
            "6.1",
            "6.1.0-53-cloud-amd64",
            "6.2",
            "6.12-rc1",
            "v6.12-rc7",
            "6.12",
            "6.12.90+deb12-cloud-amd64",
            "7.0-rc3",
            "7.0",
        ];
        let mut mixed = sorted;
        mixed.reverse();
        mixed.sort_by(|a, b| compare(a, b));
        assert_eq!(mixed, sorted);
        assert_eq!(compare("6.1", "v6.1"), "6.1".cmp("v6.1"));
    }
}
