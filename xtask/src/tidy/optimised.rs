//! What a release has to optimise.

use super::Tree;
use super::arrows::{in_code, reach};
use super::code::{code_only, words};
use std::path::Path;

/// What a release compiles without full optimisation, and is not to: the crates that a worker's code is in, all that
/// `workloads` reaches; and reference loops, which `black_box` marks, for they would cost more than what knee measures
/// against them.
pub fn check(tree: &Tree) -> Vec<String> {
    let slow = slow_crates(tree);
    let measuring = reach(&tree.crates, "workloads");
    let measures = |name: &&&str| **name == "workloads" || measuring.contains(**name);
    let of_worker = slow.iter().filter(measures);
    let mut broken: Vec<String> = of_worker
        .map(|name| {
            format!(
                "Cargo.toml: crate {name} is part of workers, which measure, and is not optimised"
            )
        })
        .collect();
    for file in tree.rust() {
        let owner = tree.crate_of(&file.path).map_or("", |member| member.name.as_str());
        let is_loop = words(&code_only(&file.text)).any(|word| word == "black_box");
        if is_loop && slow.contains(&owner) {
            let fast = tree.crates.iter().map(|member| member.name.as_str());
            let fast: Vec<&str> = fast.filter(|name| !slow.contains(name)).collect();
            let path = file.path.display();
            broken.push(format!(
                "{path}: crate {owner} is not optimised, so no loop of it is a reference; one of these may hold it: {}",
                fast.join(", ")
            ));
        }
    }
    broken
}

/// Packages for which the workspace's manifest lowers the level of optimisation of a release.
fn slow_crates(tree: &Tree) -> Vec<&str> {
    let manifest = tree.files.iter().find(|file| file.path == Path::new("Cargo.toml"));
    let mut package = None;
    let mut slow = Vec::new();
    for line in manifest.into_iter().flat_map(|file| file.text.lines()) {
        if line.starts_with('[') {
            let name = line.strip_prefix("[profile.release.package.");
            package = name.and_then(|name| name.strip_suffix(']')).map(in_code);
        } else if let (Some(name), Some(level)) = (package, line.strip_prefix("opt-level = "))
            && level != "3"
        {
            slow.push(name);
        }
    }
    slow
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::super::{Crate, File};
    use super::*;

    #[test]
    fn a_reference_loop_without_optimisation_is_found() {
        let looped = "//! A.\nfn f() { std::hint::black_box(1); }\n";
        let with = |manifest: &str, text: &str| {
            let mut tree = tree(&[("crates/a/src/lib.rs", text)]);
            tree.crates.push(Crate {
                name: "knee".into(),
                directory: "crates/a".into(),
                ..Crate::default()
            });
            let manifest = File { path: "Cargo.toml".into(), text: manifest.into() };
            tree.files.push(manifest);
            check(&tree).len()
        };
        let slow = "[profile.release.package.knee]\nopt-level = 0\n";
        assert_eq!(with(slow, looped), 1);
        assert_eq!(with(slow, "//! A.\n// black_box\n"), 0);
        assert_eq!(with("[profile.release.package.knee]\nopt-level = 3\n", looped), 0);
        assert_eq!(with("[profile.dev.package.knee]\nopt-level = 0\n", looped), 0);
        assert_eq!(with("[profile.release.package.other]\nopt-level = 0\n", looped), 0);
    }

    #[test]
    fn a_part_of_workers_without_optimisation_is_found() {
        let with = |package: &str| {
            let manifest = format!("[profile.release.package.{package}]\nopt-level = 1\n");
            let mut tree = tree(&[("Cargo.toml", &manifest)]);
            let uses =
                [("workloads", "engine"), ("engine", "sys"), ("sys", ""), ("report", "model")];
            tree.crates = uses
                .map(|(name, used)| Crate {
                    name: name.into(),
                    uses: vec![used.into()],
                    ..Crate::default()
                })
                .into();
            check(&tree).len()
        };
        assert_eq!(["workloads", "engine", "sys", "report", "clap"].map(with), [1, 1, 1, 0, 0]);
    }
}
