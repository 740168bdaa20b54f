//! The root of all guests: this program, and what it can't do without there.

use super::checks;
use super::flags::Vm;
use crate::commands::measure::config::{NAME, NamedSuite};
use crate::commands::measure::run::flags::Run as RunFlags;
use crate::exit::complain;
use engine::{Programs, Scratch};
use guest::Carried;
use std::fs;
use std::io;
use std::path::Path;

/// Writes the initramfs to `path`, with the suite's text, and with a compiler where one is needed.
pub fn write(
    knee: &Path,
    vm: &Vm,
    named: Option<&NamedSuite>,
    (directory, guests): (&Path, usize),
    path: &Path,
) -> io::Result<()> {
    let text = named.and_then(|named| named.text.clone());
    // The guest's knee looks for it in the directory that it is started in, which is the root.
    let suites = text.map(|text| Carried { path: NAME.into(), content: text.into_bytes() });
    let mut carried: Vec<Carried> = suites.into_iter().collect();
    let compiles = |name: &String| {
        let row = ::workloads::find(name);
        row.is_some_and(|row| row.about().programs == Programs::Compiler)
    };
    if workloads(&vm.measured, named).iter().any(compiles) {
        let work = Scratch::new(&directory.join("tools"))?;
        let tools = guest::build_tools(work.path())?;
        if tools.is_empty() {
            complain(
                "knee: builds will fail in the guests, whose compiler is this machine's: it lacks sh, make, cc or rm",
            );
        }
        carried.extend(tools);
    }
    let mut root = Vec::new();
    guest::write_initramfs(knee, &carried, &mut root)?;
    checks::check_disk(directory, root.len() as u64, guests)?;
    fs::write(path, root)
}

pub fn workloads<'a>(measured: &'a RunFlags, named: Option<&'a NamedSuite>) -> &'a [String] {
    match named {
        Some(named) if measured.workloads.is_empty() => &named.suite.request.workloads,
        _ => &measured.workloads,
    }
}
