//! The table that divan prints: a tree of names with statistics, each with its unit.

use super::{Export, ExportRow, Measurements};
use std::collections::BTreeSet;

pub const EXPORT: Export = Export {
    program: "divan",
    option: "its output",
    is_head: |head| String::from_utf8_lossy(head).lines().any(|line| columns(line).is_some()),
    is_table: |_| false,
    read,
};

/// What separates the columns, and what draws the tree in front of a name.
const SEPARATOR: char = '│';
const BRANCHES: [&str; 2] = ["├─ ", "╰─ "];
/// A level of the tree takes so many characters.
const LEVEL_CHARS: usize = 3;
/// The columns of figures; two counts follow.
const STATISTICS: [&str; 4] = ["fastest", "slowest", "median", "mean"];
/// The one that disturbances move least comes first.
const FIGURES: [&str; 4] = ["median", "fastest", "mean", "slowest"];

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let text = str::from_utf8(bytes).map_err(|_| "is no UTF-8")?;
    let mut rows = Vec::new();
    let program = |line: &str| -> Option<String> {
        Some(line.chars().take(columns(line)?).collect::<String>().trim().to_owned())
    };
    // Several programs may have functions of one name.
    let programs: BTreeSet<String> = text.lines().filter_map(program).collect();
    let (mut width, mut root, mut path) = (0, 0, Vec::new());
    for line in text.lines() {
        if let Some(names_width) = columns(line) {
            (width, path) = (names_width, Vec::new());
            path.extend(program(line).filter(|_| programs.len() > 1));
            root = path.len();
            continue;
        }
        let Some((depth, name, statistics)) = node(line, width) else { continue };
        path.truncate(root + depth);
        path.push(name);
        let fields: Vec<&str> = statistics.split(SEPARATOR).map(str::trim).collect();
        let figure = |name: &&str| {
            let at = STATISTICS.iter().position(|column| column == name)?;
            let text = fields.get(at).filter(|text| !text.is_empty())?;
            Some(((*name).to_owned(), (*text).to_owned()))
        };
        let mut row = ExportRow::named(&path.join("/"));
        row.figures = FIGURES.iter().filter_map(figure).collect();
        if !row.figures.is_empty() {
            rows.push(row);
        }
    }
    Ok(Measurements { rows, ..Measurements::default() })
}

/// How wide the column of names is, if this line names the columns.
fn columns(line: &str) -> Option<usize> {
    let at = line.find(STATISTICS[0])?;
    let mut names = line[at..].split(SEPARATOR).map(str::trim);
    STATISTICS.iter().all(|name| names.next() == Some(name)).then(|| line[..at].chars().count())
}

/// The depth of a line's name in the tree, the name, and its statistics. Lines without a branch continue others.
fn node(line: &str, width: usize) -> Option<(usize, String, String)> {
    let (start, branch) = BRANCHES.iter().find_map(|branch| Some((line.find(branch)?, *branch)))?;
    let name: String = line.chars().take(width).collect();
    let name = name.get(start + branch.len()..)?.trim();
    // `t=4` are threads.
    let name = name.strip_prefix("t=").map_or_else(|| name.to_owned(), |t| format!("threads:{t}"));
    let depth = line[..start].chars().count() / LEVEL_CHARS;
    Some((depth, name, line.chars().skip(width).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_in_the_tree() {
        let line = |text: &str| node(text, 10).map(|(depth, name, _)| (depth, name));
        assert_eq!(line("├─ sum    1 ns  │ 2 ns "), Some((0, "sum".into())));
        assert_eq!(line("│  ╰─ t=2 1 ns  │ 2 ns "), Some((1, "threads:2".into())));
        assert_eq!(line("│         1 GB/s│ 2 GB/s"), None);
    }
}
