//! Every Rust file belongs to some crate: a file that no module names is never compiled.

use super::code::{code_only, words};
use super::{File, Tree};
use std::path::{Path, PathBuf};

/// Rust files that are no crate's root and that their parent module does not name.
///
/// A name anywhere in the parent's code counts, not only after `mod`: the tables declare their
/// modules inside a macro.
pub fn reachable(tree: &Tree) -> Vec<String> {
    let apart = [roots_apart(tree), named_by_path(tree)].concat();
    let roots: Vec<&PathBuf> = tree
        .crates
        .iter()
        .flat_map(|member| member.roots.iter().chain(&member.other_roots))
        .chain(&apart)
        .collect();
    let mut lost = Vec::new();
    for file in tree.rust().filter(|file| !roots.contains(&&file.path)) {
        let Some((name, directory)) = module(&file.path) else { continue };
        let named = tree.rust().any(|parent| {
            let names = |wanted: &str| words(&code_only(&parent.text)).any(|word| word == wanted);
            (is_parent(&parent.path, directory, &roots)
                || inline(directory).is_some_and(|(directory_name, above)| {
                    is_parent(&parent.path, above, &roots) && names(directory_name)
                }))
                && names(name)
        });
        if !named {
            lost.push(format!("{}: no module names this file", file.path.display()));
        }
    }
    lost
}

/// Roots of packages that are no members of the workspace, such as fuzz targets: what their manifests
/// name as `path = "….rs"`, and where cargo looks by itself in a workspace of its own.
fn roots_apart(tree: &Tree) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        let Some(directory) = file.path.parent() else { continue };
        let named = file.text.lines().filter_map(|line| line.strip_prefix("path = \""));
        let named = named.filter_map(|rest| rest.strip_suffix(".rs\""));
        roots.extend(named.map(|name| directory.join(format!("{name}.rs"))));
        if file.text.lines().any(|line| line == "[workspace]") && directory != Path::new("") {
            roots.extend(["src/lib.rs", "src/main.rs"].map(|name| directory.join(name)));
            let tests = directory.join("tests");
            let is_test = |file: &&File| file.path.parent() == Some(&tests);
            roots.extend(tree.rust().filter(is_test).map(|file| file.path.clone()));
        }
    }
    roots
}

/// Files that a module is given by `#[path = "….rs"]`: their own parent may be in another package.
fn named_by_path(tree: &Tree) -> Vec<PathBuf> {
    let mut named = Vec::new();
    for file in tree.rust() {
        let Some(directory) = file.path.parent() else { continue };
        let given = file.text.lines().filter_map(|line| line.trim().strip_prefix("#[path = \""));
        for path in given.filter_map(|rest| rest.strip_suffix("\"]")) {
            let mut whole = directory.to_path_buf();
            for part in Path::new(path) {
                if part == ".." {
                    whole.pop();
                } else {
                    whole.push(part);
                }
            }
            named.push(whole);
        }
    }
    named
}

/// A module's name, and the folder that its parent's children are in.
fn module(path: &Path) -> Option<(&str, &Path)> {
    let directory = path.parent()?;
    let name = path.file_stem()?.to_str()?;
    if name == "mod" {
        Some((directory.file_name()?.to_str()?, directory.parent()?))
    } else {
        Some((name, directory))
    }
}

/// The name of a folder's module, which may be declared inline, and the folder that it is in.
fn inline(directory: &Path) -> Option<(&str, &Path)> {
    Some((directory.file_name()?.to_str()?, directory.parent()?))
}

/// Whether the children of a file's module are in that folder.
fn is_parent(path: &Path, directory: &Path, roots: &[&PathBuf]) -> bool {
    let is_sibling = path.parent() == Some(directory);
    let root = is_sibling && roots.iter().any(|root| root.as_path() == path);
    let mod_file = is_sibling && path.file_name().is_some_and(|name| name == "mod.rs");
    root || mod_file || path.with_extension("") == directory
}

#[cfg(test)]
mod tests {
    use super::super::Crate;
    use super::super::tests::tree;
    use super::*;

    #[test]
    fn a_file_that_no_file_names_is_lost() {
        let mut tree = tree(&[
            ("a/src/lib.rs", "mod table;\nmod folder;\nmod inline { mod one; }"),
            ("a/src/table.rs", "table! {\n    named,\n    // lost,\n}"),
            ("a/src/table/named.rs", ""),
            ("a/src/table/lost.rs", ""),
            ("a/src/folder/mod.rs", "mod inner;"),
            ("a/src/folder/inner.rs", ""),
            ("a/src/stray.rs", "mod lost;"),
            ("a/src/inline/one.rs", ""),
            ("a/tests/contract.rs", "mod common;"),
            ("a/tests/common/mod.rs", ""),
            (
                "a/fuzz/Cargo.toml",
                "[[bin]]\nname = \"target\"\npath = \"fuzz_targets/target.rs\"\n",
            ),
            ("a/fuzz/fuzz_targets/target.rs", "#[path = \"../shared.rs\"]\nmod shared;"),
            ("a/fuzz/shared.rs", ""),
        ]);
        tree.crates.push(Crate {
            roots: vec!["a/src/lib.rs".into()],
            other_roots: vec!["a/tests/contract.rs".into()],
            ..Crate::default()
        });
        let lost = reachable(&tree);
        assert_eq!(lost.len(), 2, "{lost:?}");
        assert!(lost[0].starts_with("a/src/table/lost.rs"));
        assert!(lost[1].starts_with("a/src/stray.rs"));
    }
}
