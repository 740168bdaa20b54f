//! The package of Debian: the same files as the archive, where Debian has them.

use super::{Architecture, Tree, write};
use crate::shell::{self, output};
use crate::tally::Tally;
use anyhow::Result;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What programs of the archive's directory are for, by where a package has them.
const COMPLETIONS: [(&str, &str); 3] = [
    ("knee.bash", "usr/share/bash-completion/completions/knee"),
    ("_knee", "usr/share/zsh/vendor-completions/_knee"),
    ("knee.fish", "usr/share/fish/vendor_completions.d/knee.fish"),
];

const MAINTAINER: &str = "knee maintainers <maintainers@users.noreply.github.com>";

/// What lintian finds and is meant.
const OVERRIDES: &str = "\
# One program for all releases of Debian, and what it measures within itself has a known C library.
knee: statically-linked-binary [usr/bin/knee]
knee: embedded-library *
";

/// Makes the package of what `stage` holds, by dpkg-deb, and has lintian look at it.
pub fn package(
    tree: &Tree,
    architecture: Architecture,
    stage: &Path,
    tally: &mut Tally,
) -> Result<()> {
    let machine = match architecture {
        Architecture::X86 => "amd64",
        Architecture::Aarch64 => "arm64",
    };
    if !shell::has("dpkg-deb") {
        tally.skip("dist deb", "no dpkg-deb here");
        return Ok(());
    }
    let root = PathBuf::from(format!("{}-deb", stage.display()));
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    let put = |from: &str, to: &str| write(&root.join(to), &fs::read(stage.join(from))?);
    put("knee", "usr/bin/knee")?;
    for (file, to) in COMPLETIONS {
        put(&format!("completions/{file}"), to)?;
    }
    for page in fs::read_dir(stage.join("man"))? {
        let name = page?.file_name().to_string_lossy().into_owned();
        put(&format!("man/{name}"), &format!("usr/share/man/man1/{name}"))?;
        zip(tree, &root.join("usr/share/man/man1").join(name))?;
    }
    let documents = root.join("usr/share/doc/knee");
    put("sbom.cdx.json", "usr/share/doc/knee/sbom.cdx.json")?;
    put("THIRD-PARTY-LICENSES.txt", "usr/share/doc/knee/third-party-licenses")?;
    zip(tree, &documents.join("third-party-licenses"))?;
    write(&documents.join("copyright"), copyright(stage)?.as_bytes())?;
    let date = output(
        Command::new("date")
            .args(["--utc", "--rfc-email", "--date"])
            .arg(format!("@{}", tree.epoch)),
    )?;
    let (version, date) = (&tree.version, date.trim());
    let changes = format!(
        "knee ({version}) unstable; urgency=medium\n\n  * The version of the archive {}.\n\n -- {MAINTAINER}  {date}\n",
        tree.name(architecture)
    );
    write(&documents.join("changelog"), changes.as_bytes())?;
    zip(tree, &documents.join("changelog"))?;
    write(&root.join("usr/share/lintian/overrides/knee"), OVERRIDES.as_bytes())?;
    let size_kib =
        output(Command::new("du").args(["--apparent-size", "--summarize", "-k"]).arg(&root))?;
    let size_kib = size_kib.split_whitespace().next().unwrap_or("0").to_owned();
    write(&root.join("DEBIAN/control"), control(version, machine, &size_kib).as_bytes())?;
    set_modes(&root)?;
    let file = tree.out().join(format!("knee_{version}_{machine}.deb"));
    let mut make = tree.command("dpkg-deb");
    output(make.args(["--root-owner-group", "-Zxz", "--build"]).arg(&root).arg(&file))?;
    if shell::has("lintian") {
        let lint = shell::succeeds(tree.command("lintian").args(["--fail-on", "error"]).arg(&file));
        tally.check("dist: lintian finds no error", lint?);
    } else {
        tally.skip("dist lintian", "it is not installed (apt-get install lintian)");
    }
    Ok(())
}

/// What `dpkg` reads first. A static program depends on nothing; what workloads can use is suggested.
fn control(version: &str, machine: &str, size_kib: &str) -> String {
    format!(
        "Package: knee\nVersion: {version}\nArchitecture: {machine}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {size_kib}\nSection: utils\nPriority: optional\n\
         Suggests: gcc, gnuplot-nox, lighttpd, make, nginx, qemu-system-x86\n\
         Description: finds where a system stops scaling\n \
         Measures how the primitives of network servers, or programs of your own,\n \
         behave as the work grows: the order of growth, the crossover of two\n \
         choices, the second mode that an average hides, and what changed between\n \
         two runs.\n"
    )
}

/// The licence of knee. Those of the packages in it stand in a file of their own.
fn copyright(stage: &Path) -> Result<String> {
    let mit = fs::read_to_string(stage.join("LICENSE-MIT"))?;
    Ok(format!(
        "Copyright: the knee authors\n\nknee is licensed under the MIT licence, or under the Apache licence 2.0, which is in\n\
         /usr/share/common-licenses/Apache-2.0, as you like. The packages that it is made of, and their\n\
         licences, are in /usr/share/doc/knee/third-party-licenses.gz.\n\n{mit}"
    ))
}

/// Compresses a file, without its name and date.
fn zip(tree: &Tree, file: &Path) -> Result<()> {
    output(tree.command("gzip").args(["--no-name", "--best"]).arg(file)).map(drop)
}

/// What all may read and the owner may write; only the program may be run.
fn set_modes(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)?.flatten() {
        let path = entry.path();
        let is_program = path.ends_with("usr/bin/knee");
        let mode = if path.is_dir() || is_program { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        if path.is_dir() {
            set_modes(&path)?;
        }
    }
    Ok(fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?)
}
