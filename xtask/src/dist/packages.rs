//! The packages that the program is made of: their licences, and a bill of materials.

use super::{Architecture, Tree};
use crate::shell::{self, output};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// How files that hold a licence begin.
const LICENCE_FILES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// A package of the program.
struct Package {
    name: String,
    version: String,
    /// As an SPDX expression.
    licence: String,
    /// Its directory, which holds its licence files.
    directory: std::path::PathBuf,
    /// Whether it is one of knee's own crates.
    is_own: bool,
    /// The sum of the file that the registry has.
    sum: Option<String>,
    /// The packages that it uses, as positions in [`Packages::all`].
    uses: Vec<usize>,
}

/// All packages of the program, in order of name and version.
pub struct Packages {
    version: String,
    epoch: String,
    all: Vec<Package>,
}

impl Packages {
    /// Those that are linked into the program for an architecture, or write code of it; no tools and tests.
    pub fn read(tree: &Tree, architecture: Architecture) -> Result<Self> {
        let mut cargo = shell::cargo_that_locks(&tree.root, "metadata");
        cargo.args(["--format-version", "1", "--locked", "--features", "knee/postgres"]);
        cargo.args(["--filter-platform", &architecture.target()]);
        let metadata: Value = serde_json::from_str(&output(&mut cargo)?)?;
        let lock = fs::read_to_string(tree.root.join("Cargo.lock"))?;
        let all = linked(&metadata, &sums(&lock)).context("cargo metadata has no such package")?;
        Ok(Self { version: tree.version.clone(), epoch: tree.epoch.clone(), all })
    }

    /// The text of every licence once, below the packages that have it.
    pub fn licences(&self) -> Result<String> {
        let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut list = String::new();
        for package in self.all.iter().filter(|package| !package.is_own) {
            let name = format!("{} {}", package.name, package.version);
            writeln!(list, "{name}: {}", package.licence)?;
            for text in licence_texts(&package.directory)? {
                texts.entry(text).or_default().push(name.clone());
            }
        }
        let mut out = format!("What knee is made of besides its own code.\n\n{list}");
        for (text, names) in texts {
            write!(out, "\n{}\n{}\n\n{text}\n", "=".repeat(80), names.join(", "))?;
        }
        Ok(out)
    }

    /// The bill of materials, as `CycloneDX` 1.5 in JSON, of the program with these bytes.
    pub fn bill(&self, program: &[u8]) -> Result<String> {
        let reference =
            |package: &Package| format!("pkg:cargo/{}@{}", package.name, package.version);
        let component = |package: &Package| {
            let licence = json!([{ "expression": package.licence }]);
            let mut component = json!({
                "type": "library",
                "bom-ref": reference(package),
                "name": package.name,
                "version": package.version,
                "licenses": licence,
            });
            if let Some(sum) = &package.sum {
                component["purl"] = reference(package).into();
                component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
            }
            component
        };
        let dependencies = self.all.iter().map(|package| {
            let uses = package.uses.iter().map(|&used| reference(&self.all[used]));
            let uses: BTreeSet<String> = uses.collect();
            json!({ "ref": reference(package), "dependsOn": uses })
        });
        let is_program = |package: &&Package| package.name == "knee";
        let knee = self.all.iter().find(is_program).context("knee is among its packages")?;
        let mut metadata = component(knee);
        metadata["type"] = "application".into();
        metadata["properties"] = json!([{ "name": "bytes", "value": program.len().to_string() }]);
        let date = output(
            std::process::Command::new("date")
                .args(["--utc", "--date"])
                .arg(format!("@{}", self.epoch))
                .arg("+%Y-%m-%dT%H:%M:%SZ"),
        )?;
        let bill = json!({
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": { "timestamp": date.trim(), "component": metadata },
            "components": self.all.iter().filter(|package| package.name != "knee").map(component).collect::<Vec<_>>(),
            "dependencies": dependencies.collect::<Vec<_>>(),
        });
        debug_assert_eq!(knee.version, self.version, "one version is handed out");
        Ok(serde_json::to_string_pretty(&bill)? + "\n")
    }
}

/// The packages that `knee` reaches, not by build scripts and tests.
fn linked(metadata: &Value, sums: &BTreeMap<(String, String), String>) -> Option<Vec<Package>> {
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let nodes: BTreeMap<String, Value> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .filter_map(|node| Some((node["id"].as_str()?.to_owned(), node)))
        .collect();
    let packages = list(&metadata["packages"]);
    let start = packages.iter().find(|package| package["name"] == "knee")?["id"].as_str()?;
    let uses = |id: &str| -> Vec<String> {
        let is_linked =
            |used: &Value| list(&used["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        let all = nodes.get(id).map(|node| list(&node["deps"])).unwrap_or_default();
        let linked = all.into_iter().filter(is_linked);
        linked.filter_map(|used| Some(used["pkg"].as_str()?.to_owned())).collect()
    };
    let (mut reached, mut open) = (BTreeSet::new(), vec![start.to_owned()]);
    while let Some(id) = open.pop() {
        if reached.insert(id.clone()) {
            open.extend(uses(&id));
        }
    }
    let mut linked: Vec<&Value> = packages
        .iter()
        .filter(|package| package["id"].as_str().is_some_and(|id| reached.contains(id)))
        .collect();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    linked.sort_by_key(|package| (text(&package["name"]), text(&package["version"])));
    let at = |id: &str| linked.iter().position(|package| package["id"] == id);
    let package = |package: &&Value| {
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        Some(Package {
            licence: text(&package["license"]).replace('/', " OR "),
            directory: Path::new(package["manifest_path"].as_str()?).parent()?.to_owned(),
            is_own: package["source"].is_null(),
            sum: sums.get(&(name.clone(), version.clone())).cloned(),
            uses: uses(package["id"].as_str()?).iter().filter_map(|id| at(id)).collect(),
            name,
            version,
        })
    };
    linked.iter().map(package).collect()
}

/// The sums of the lock file, by name and version.
fn sums(lock: &str) -> BTreeMap<(String, String), String> {
    let field = |block: &str, name: &str| {
        let value = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""));
        value.map(|value| value.trim_end_matches('"').to_owned())
    };
    let blocks = lock.split("[[package]]");
    blocks
        .filter_map(|block| {
            let key = (field(block, "name")?, field(block, "version")?);
            Some((key, field(block, "checksum")?))
        })
        .collect()
}

/// The licences in a directory and below it, such as that of a font, in order of their paths.
fn licence_texts(directory: &Path) -> Result<Vec<String>> {
    let (mut files, mut left) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = left.pop() {
        let entries =
            fs::read_dir(&directory).with_context(|| format!("reading {}", directory.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            if path.is_dir() {
                left.push(path);
            } else if LICENCE_FILES.iter().any(|begin| name.starts_with(begin)) {
                files.push(path);
            }
        }
    }
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim().to_owned())
    };
    files.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_is_listed_and_what_only_builds_is_not() {
        let package = |name: &str, source: Option<&str>| {
            json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0",
                "manifest_path": format!("/x/{name}/Cargo.toml"), "source": source })
        };
        let node = |id: &str, deps: &[(&str, Option<&str>)]| {
            let deps: Vec<Value> = deps
                .iter()
                .map(|(id, kind)| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] }))
                .collect();
            json!({ "id": id, "deps": deps })
        };
        let metadata = json!({
            "packages": [package("knee", None), package("used", Some("r")), package("cc", Some("r")), package("test", Some("r"))],
            "resolve": { "nodes": [
                node("knee", &[("used", None), ("test", Some("dev"))]),
                node("used", &[("cc", Some("build"))]),
            ] },
        });
        let lock = "[[package]]\nname = \"used\"\nversion = \"1.0.0\"\nchecksum = \"abc\"\n";
        let all = linked(&metadata, &sums(lock)).unwrap();
        let names: Vec<&str> = all.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["knee", "used"]);
        assert_eq!((all[0].uses.as_slice(), all[1].sum.as_deref()), (&[1][..], Some("abc")));
        let packages = Packages { version: "1.0.0".into(), epoch: "0".into(), all };
        let bill: Value = serde_json::from_str(&packages.bill(b"").unwrap()).unwrap();
        assert_eq!(bill["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(bill["dependencies"][0]["dependsOn"], json!(["pkg:cargo/used@1.0.0"]));
    }
}
