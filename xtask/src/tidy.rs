//! The house rules, as checks over the workspace's own files.

mod arrows;
mod code;
mod links;
mod modules;
mod optimised;
mod retired;
mod source;
mod words;

use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a workspace that are text, and what its manifests say.
#[derive(Default)]
struct Tree {
    /// Folder that the paths are relative to.
    root: PathBuf,
    /// Text files that git tracks or would track, in order of path.
    files: Vec<File>,
    /// The workspace's crates.
    crates: Vec<Crate>,
}

/// One text file.
struct File {
    /// Path from the root.
    path: PathBuf,
    /// Its content.
    text: String,
}

/// One crate, as its manifest describes it.
#[derive(Default)]
struct Crate {
    /// Its name.
    name: String,
    /// Its folder, from the root.
    directory: PathBuf,
    /// The workspace's crates among its normal and build dependencies.
    uses: Vec<String>,
    /// The roots of its library and its programs, from the workspace's root.
    roots: Vec<PathBuf>,
    /// The roots of its tests, examples, benches and build script.
    other_roots: Vec<PathBuf>,
}

impl File {
    fn has_extension(&self, extensions: &[&str]) -> bool {
        let own = self.path.extension().and_then(|extension| extension.to_str());
        own.is_some_and(|own| extensions.contains(&own))
    }
}

/// A rule: its name, and what in a tree breaks it, one line each.
struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Vec<String>,
}

/// Every rule. `cargo xtask tidy` runs them, and so does the test below.
const RULES: &[Rule] = &[
    Rule { name: "crates use only what the design lets them", check: arrows::check },
    Rule { name: "every file opens with a //! line", check: source::opening_lines },
    Rule { name: "no file is over 900 lines", check: source::sizes },
    Rule { name: "at most sixty constants decide", check: source::thresholds },
    Rule { name: "nothing is left to be done later", check: source::leftovers },
    Rule { name: "a skipped test says so where it is counted", check: source::uncounted_skips },
    Rule { name: "what examples there are is tried", check: source::untried_examples },
    Rule { name: "unsafe only where it is allowed, and argued", check: source::unsafe_code },
    Rule { name: "every crate says how it holds unsafe code", check: source::crate_attributes },
    Rule {
        name: "what measures is optimised, and what it is compared with",
        check: optimised::check,
    },
    Rule { name: "no identifier holds a retired word", check: words::check },
    Rule { name: "every file is a module or a root", check: modules::reachable },
    Rule { name: "links between documents resolve", check: links::resolve },
];

/// Checks the workspace; prints what breaks a rule.
pub fn run(tally: &mut Tally) -> Result<()> {
    let tree = Tree::read(&shell::root())?;
    anyhow::ensure!(tree.rust().count() > 20, "the tree was not read");
    for rule in RULES {
        let broken = (rule.check)(&tree);
        for line in &broken {
            println!("tidy: {line}");
        }
        tally.check(&format!("tidy: {} ({} findings)", rule.name, broken.len()), broken.is_empty());
    }
    Ok(())
}

impl Tree {
    /// Reads the workspace in `root`.
    fn read(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        for path in shell::files(root)? {
            let bytes = fs::read(root.join(&path))
                .with_context(|| format!("can't read {}", path.display()))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(File { path, text });
            }
        }
        let crates = arrows::crates(&shell::metadata(root)?, root)?;
        Ok(Self { root: root.to_owned(), files, crates })
    }

    /// Its Rust files.
    fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.has_extension(&["rs"]))
    }

    /// The crate whose folder holds a file.
    fn crate_of(&self, path: &Path) -> Option<&Crate> {
        self.crates.iter().find(|member| path.starts_with(&member.directory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of files that exist only here.
    pub(super) fn tree(files: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| File { path: path.into(), text: (*text).into() };
        Tree { files: files.iter().map(file).collect(), ..Tree::default() }
    }
}
