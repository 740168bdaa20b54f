//! The arrows between crates: which crate may use which.

use super::{Crate, Tree};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each crate and what it may use. A crate that is not here is a finding: give it a row.
const MAY_USE: &[(&str, &[&str])] = &[
    ("sys", &[]),
    ("readiness", &["sys"]),
    ("locks", &["sys"]),
    ("http", &["printable", "readiness", "sys"]),
    ("load", &["sys"]),
    ("observe", &["printable", "sys"]),
    ("printable", &[]),
    ("simulate", &[]),
    ("quantities", &[]),
    ("model", &["printable", "quantities"]),
    ("archive", &["model", "printable", "sys"]),
    // Builders for tests: only ever a development dependency.
    ("fixtures", &["model"]),
    ("stacks", &["model", "observe", "printable", "sys"]),
    ("engine", &["archive", "model", "observe", "printable", "quantities", "stacks", "sys"]),
    ("guest", &["engine", "model", "printable", "sys"]),
    ("workloads", &["readiness", "locks", "http", "load", "quantities", "sys", "engine"]),
    ("suites", &["engine", "quantities"]),
    ("analysis", &["model"]),
    ("findings", &["analysis", "model", "printable"]),
    ("report", &["analysis", "findings", "model", "printable"]),
    ("doctor", &["engine", "model", "observe", "printable", "readiness", "stacks", "sys"]),
    ("foreign-tables", &["findings", "model", "printable", "quantities"]),
    // What a test depends on: no program, no record.
    ("grows", &["analysis", "findings", "model"]),
    (
        "knee",
        &[
            "sys",
            "readiness",
            "locks",
            "http",
            "load",
            "observe",
            "printable",
            "stacks",
            "simulate",
            "quantities",
            "archive",
            "model",
            "engine",
            "guest",
            "workloads",
            "suites",
            "analysis",
            "findings",
            "report",
            "doctor",
            "foreign-tables",
            "grows",
        ],
    ),
    ("xtask", &["quantities"]),
];

/// Crates that may never reach another, whatever the way.
const NEVER: &[(&str, &[&str])] = &[
    ("analysis", &["archive", "engine", "sys", "readiness", "workloads"]),
    ("findings", &["archive", "engine", "sys", "readiness", "workloads"]),
    ("report", &["archive", "engine", "sys", "readiness", "workloads"]),
    ("readiness", &["model", "engine"]),
    ("locks", &["model", "engine"]),
    ("simulate", &["model", "engine", "locks"]),
    ("http", &["model", "engine"]),
    ("stacks", &["engine"]),
    ("engine", &["readiness", "workloads", "analysis", "report"]),
    ("doctor", &["workloads", "analysis", "findings", "report"]),
];

/// What the crates' manifests say, from the output of `cargo metadata --no-deps`.
pub fn crates(metadata: &Value, root: &Path) -> Result<Vec<Crate>> {
    let packages = metadata["packages"].as_array().context("metadata without packages")?;
    packages.iter().map(|package| one_crate(package, root)).collect()
}

/// What the code calls a package: those of the workspace have `knee-` before it, for the registry.
pub fn in_code(package: &str) -> &str {
    package.strip_prefix("knee-").unwrap_or(package)
}

fn one_crate(package: &Value, root: &Path) -> Result<Crate> {
    let relative = |path: &Value| -> Result<PathBuf> {
        let path = Path::new(path.as_str().context("metadata without a path")?);
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Ok(path.strip_prefix(&root).unwrap_or(path).to_owned())
    };
    let manifest = relative(&package["manifest_path"])?;
    let mut member = Crate {
        name: in_code(package["name"].as_str().context("a package without a name")?).to_owned(),
        directory: manifest.parent().map(Path::to_owned).unwrap_or_default(),
        ..Crate::default()
    };
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        // Only the workspace's own crates have a path; development dependencies are free.
        if dependency["path"].is_string() && dependency["kind"] != "dev" {
            member.uses.extend(dependency["name"].as_str().map(|name| in_code(name).to_owned()));
        }
    }
    for target in package["targets"].as_array().into_iter().flatten() {
        let path = relative(&target["src_path"])?;
        let kinds = target["kind"].as_array();
        let main =
            kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib" || kind == "bin"));
        if main { &mut member.roots } else { &mut member.other_roots }.push(path);
    }
    Ok(member)
}

/// Crates that use what they may not, directly or by way of others.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    for member in &tree.crates {
        let Some((_, may)) = MAY_USE.iter().find(|(name, _)| *name == member.name) else {
            broken.push(format!("crate {} is not in the table of arrows (MAY_USE)", member.name));
            continue;
        };
        for used in member.uses.iter().filter(|used| !may.contains(&used.as_str())) {
            broken.push(format!("crate {} must not use {used}", member.name));
        }
    }
    for (name, never) in NEVER {
        let reached = reach(&tree.crates, name);
        for forbidden in never.iter().filter(|forbidden| reached.contains(**forbidden)) {
            broken.push(format!("crate {name} reaches {forbidden} by way of others"));
        }
    }
    broken
}

/// Every crate that `name` reaches along dependencies, itself left out.
pub fn reach<'a>(crates: &'a [Crate], name: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![name];
    while let Some(name) = open.pop() {
        let uses =
            crates.iter().filter(|member| member.name == name).flat_map(|member| &member.uses);
        open.extend(uses.map(String::as_str).filter(|used| reached.insert(*used)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn workspace(uses: &[(&str, &[&str])]) -> Tree {
        let member = |(name, uses): &(&str, &[&str])| Crate {
            name: (*name).into(),
            uses: uses.iter().map(|used| (*used).to_owned()).collect(),
            ..Crate::default()
        };
        Tree { crates: uses.iter().map(member).collect(), ..Tree::default() }
    }

    #[test]
    fn the_design_is_kept_by_its_own_table() {
        assert_eq!(check(&workspace(MAY_USE)), Vec::<String>::new());
    }

    #[test]
    fn an_arrow_that_the_design_lacks_is_found() {
        let broken = check(&workspace(&[("model", &["sys"]), ("sys", &[])]));
        assert_eq!(broken, ["crate model must not use sys"]);
        assert_eq!(check(&workspace(&[("misc", &[])])).len(), 1);
    }

    #[test]
    fn a_way_round_is_found() {
        let broken = check(&workspace(&[
            ("report", &["analysis"]),
            ("analysis", &["model"]),
            ("model", &["engine"]),
            ("engine", &[]),
        ]));
        assert!(broken.contains(&"crate report reaches engine by way of others".to_owned()));
        assert!(broken.contains(&"crate analysis reaches engine by way of others".to_owned()));
    }

    #[test]
    fn development_dependencies_and_strangers_are_free() {
        let metadata = json!({"packages": [{
            "name": "model",
            "manifest_path": "/w/crates/model/Cargo.toml",
            "dependencies": [
                {"name": "serde", "kind": null},
                {"name": "engine", "kind": "dev", "path": "/w/crates/engine"},
                {"name": "sys", "kind": "build", "path": "/w/crates/sys"},
            ],
            "targets": [
                {"kind": ["lib"], "src_path": "/w/crates/model/src/lib.rs"},
                {"kind": ["test"], "src_path": "/w/crates/model/tests/kill.rs"},
            ],
        }]});
        let crates = crates(&metadata, Path::new("/w")).unwrap();
        assert_eq!(crates[0].uses, ["sys"]);
        assert_eq!(crates[0].directory, Path::new("crates/model"));
        assert_eq!(crates[0].roots, [Path::new("crates/model/src/lib.rs")]);
        assert_eq!(crates[0].other_roots, [Path::new("crates/model/tests/kill.rs")]);
    }
}
