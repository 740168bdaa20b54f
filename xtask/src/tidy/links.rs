//! Links between the project's documents lead somewhere.

use super::{File, Tree};
use std::path::{Component, Path, PathBuf};

/// Relative links in Markdown files whose file or heading is not there.
pub fn resolve(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    for file in tree.files.iter().filter(|file| file.has_extension(&["md"])) {
        for (number, link) in links(&file.text) {
            if !leads_somewhere(tree, file, link) {
                let path = file.path.display();
                broken.push(format!("{path}:{number}: the link {link} leads nowhere"));
            }
        }
    }
    broken
}

fn leads_somewhere(tree: &Tree, from: &File, link: &str) -> bool {
    if link.contains("://") || link.starts_with("mailto:") {
        return true;
    }
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let path = if path.is_empty() {
        from.path.clone()
    } else {
        normal(&from.path.parent().unwrap_or(Path::new("")).join(path))
    };
    let Some(file) = tree.files.iter().find(|file| file.path == path) else {
        return heading.is_empty()
            && (tree.files.iter().any(|file| file.path.starts_with(&path))
                || tree.root.join(&path).is_file());
    };
    heading.is_empty() || !file.has_extension(&["md"]) || anchors(&file.text).any(|a| a == heading)
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.pop() => {}
            component => normal.push(component),
        }
    }
    normal
}

/// Lines of prose with their numbers, code between fences left out.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// The targets of `[text](target)`, with their line numbers.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        // Every second piece is inside backticks.
        for piece in line.split('`').step_by(2) {
            for rest in piece.split("](").skip(1) {
                let target = rest.split(')').next().unwrap_or_default();
                let target = target.split_whitespace().next().unwrap_or_default();
                links.push((number, target.trim_matches(['<', '>'])));
            }
        }
        // A link whose text holds backticks is cut apart above.
        for rest in line.split("`](").skip(1) {
            let target = rest.split(')').next().unwrap_or_default();
            if !links.contains(&(number, target)) {
                links.push((number, target));
            }
        }
    }
    links
}

/// The anchors that a document's headings get.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
        kept.map(|char| if char == ' ' { '-' } else { char }).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    #[test]
    fn links_that_lead_somewhere_pass() {
        let text = "# Adding `a` row, fast\n\
            [a](docs/B.md) [b](#adding-a-row-fast) [c](docs/B.md#two-words) [`d`](docs) \
            [e](https://example.org/x)\n`[f](nowhere.md)`\n```\n[g](nowhere.md)\n```\n";
        let files = [("A.md", text), ("docs/B.md", "## Two words\n[up](../A.md)\n")];
        assert_eq!(resolve(&tree(&files)), Vec::<String>::new());
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let text = "[a](gone.md) [`b`](gone.rs) [c](#no-such) [d](B.md#none) ![e](gone.png \"t\")";
        let broken = resolve(&tree(&[("A.md", text), ("B.md", "# One\n")]));
        assert_eq!(broken.len(), 5, "{broken:?}");
    }
}
