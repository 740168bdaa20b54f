//! The root of all guests: this program, and what it can't do without there.

use super::flags::Vm;
use crate::config::{NAME, NamedSuite};
use engine::Scratch;
use guest::Carried;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The workload that starts programs of this machine.
const BUILD: &str = "build";

/// Writes the initramfs to `path`, with the text that the suite `named` stands in, and with a compiler where one is needed.
pub fn write(
    knee: &Path,
    vm: &Vm,
    named: Option<&NamedSuite>,
    directory: &Path,
    path: &Path,
) -> io::Result<()> {
    let text = named.and_then(|named| named.text.clone());
    // The guest's knee looks for it in the directory that it is started in, which is the root.
    let suites = text.map(|text| Carried { path: NAME.into(), content: text.into_bytes() });
    let mut carried: Vec<Carried> = suites.into_iter().collect();
    if workloads(vm, named).iter().any(|name| name == BUILD) {
        let work = Scratch::new(&directory.join("tools"))?;
        carried.extend(guest::build_tools(work.path())?);
    }
    let mut out = BufWriter::new(File::create_new(path)?);
    guest::write_initramfs(knee, &carried, &mut out)?;
    out.flush()
}

/// The names of the workloads that are asked for, as far as they are named.
fn workloads<'a>(vm: &'a Vm, named: Option<&'a NamedSuite>) -> &'a [String] {
    match named {
        Some(named) if vm.measured.workloads.is_empty() => &named.suite.request.workloads,
        _ => &vm.measured.workloads,
    }
}
