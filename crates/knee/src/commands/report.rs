//! `knee report`: the self-contained HTML page of one run, or of several overlaid.

use crate::args::Report;
use crate::commands::{place, read};
use crate::exit::{Exit, Trouble};
use crate::output::print;
use ::record::Run;
use analysis::Analysis;
use std::fs::{File, metadata, rename};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How every page begins, and so how a page that may be replaced is known.
const PAGE_HEAD: &str = "<!DOCTYPE html>";

/// Writes the page.
pub fn report(ask: &Report) -> Result<Exit, Trouble> {
    let record = place(&ask.place).ok();
    check(&ask.output, record.as_deref())?;
    let mut pages = Vec::new();
    for name in &ask.runs {
        let run = read(name, &ask.place)?;
        let analysis = analysis::analyse(&run);
        pages.push((run, analysis));
    }
    write(&ask.output, record.as_deref(), &pages)?;
    print(&format!("Report: {}\n", ask.output.display()))?;
    Ok(Exit::Done)
}

/// Whether a page may be written to `file`: it is new, or a page already, and not the `record`.
pub fn check(file: &Path, record: Option<&Path>) -> Result<(), Trouble> {
    let refused = |why: &str| {
        Err(Trouble::usage(format!("{}: {why}; name another file with -o", file.display())))
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return refused("its folder does not exist");
    }
    let Ok(found) = metadata(file) else {
        // There will be a record where there is none yet.
        return if record == Some(file) { refused("that is the record") } else { Ok(()) };
    };
    let same = |other: &Path| {
        metadata(other).is_ok_and(|other| (other.dev(), other.ino()) == (found.dev(), found.ino()))
    };
    if record.is_some_and(same) {
        return refused("that is the record");
    }
    if found.is_dir() {
        return refused("that is a folder");
    }
    if found.is_file() && found.len() > 0 && !is_page(file).unwrap_or(false) {
        return refused("it exists and is no HTML page");
    }
    Ok(())
}

fn is_page(file: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(file)?.take(PAGE_HEAD.len() as u64).read_to_end(&mut head)?;
    Ok(head.eq_ignore_ascii_case(PAGE_HEAD.as_bytes()))
}

/// Writes the page of `runs` to `file`, whole or not at all.
pub fn write(file: &Path, record: Option<&Path>, runs: &[(Run, Analysis)]) -> Result<(), Trouble> {
    check(file, record)?;
    let page = report::html::page(runs);
    let written = match metadata(file) {
        // A device or a pipe can't be replaced, only written to.
        Ok(found) if !found.is_file() => std::fs::write(file, page),
        _ => replace(file, &page),
    };
    written.map_err(|error| {
        Trouble::failed(format!("{}: {error}; name another file with -o", file.display()))
    })
}

fn replace(file: &Path, page: &str) -> io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = file.with_file_name(name);
    let written = File::create_new(&new).and_then(|mut out| out.write_all(page.as_bytes()));
    let replaced = written.and_then(|()| rename(&new, file));
    if replaced.is_err() {
        // Half a page helps nobody.
        let _ = std::fs::remove_file(&new);
    }
    replaced
}
