//! Files that a command writes: never over a record, nor over anything that is not of their kind,
//! and whole or not at all.

use crate::exit::Trouble;
use engine::Stop;
use std::fs::{self, File, Metadata, metadata, remove_file, rename};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A kind of file that may be replaced by another of it.
pub struct Kind {
    /// What it is, after `no`: `page of knee`.
    pub name: &'static str,
    /// A text near its beginning; empty where none of it is known as such.
    pub mark: &'static str,
}

/// How much of a file may hold its mark.
const MARKED_BYTES: u64 = 1 << 10;

/// Whether one of `kind` may be written to `file`: it is new, or of that kind already, and none of `records`.
pub fn check(file: &Path, kind: &Kind, records: &[&Path]) -> Result<(), Trouble> {
    let refused = |why: &str| {
        Err(Trouble::usage(format!("{}: {why}; name another file with -o", file.display())))
    };
    let directory = file.parent().filter(|directory| !directory.as_os_str().is_empty());
    if directory.is_some_and(|directory| !directory.is_dir()) {
        return refused("its directory does not exist");
    }
    let Ok(existing) = metadata(file) else {
        // There will be a record where there is none yet.
        let is_record = records.contains(&file);
        return if is_record { refused("that is the record") } else { Ok(()) };
    };
    let id = |metadata: &Metadata| (metadata.dev(), metadata.ino());
    let is_it = |record: &&Path| metadata(record).is_ok_and(|record| id(&record) == id(&existing));
    if records.iter().any(is_it) {
        return refused("that is the record");
    }
    if existing.is_dir() {
        return refused("that is a directory");
    }
    if existing.is_file() && existing.len() > 0 && !has_mark(file, kind.mark.as_bytes()) {
        return refused(&match kind.mark {
            "" => "it exists, and files of that format have no mark of knee's".to_owned(),
            _ => format!("it exists and is no {}", kind.name),
        });
    }
    Ok(())
}

fn has_mark(file: &Path, mark: &[u8]) -> bool {
    let mut beginning = Vec::new();
    let read =
        File::open(file).and_then(|file| file.take(MARKED_BYTES).read_to_end(&mut beginning));
    read.is_ok() && !mark.is_empty() && beginning.windows(mark.len()).any(|part| part == mark)
}

/// Writes to `file` what `content` writes, whole or not at all.
pub fn write(
    file: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Trouble> {
    let failed = |error: io::Error| {
        Trouble::failed(format!("{}: {error}; name another file with -o", file.display()))
    };
    if metadata(file).is_ok_and(|existing| !existing.is_file()) {
        // A device or a pipe can't be replaced, only written to.
        return File::create(file).and_then(|mut out| fill(&mut out, content)).map_err(failed);
    }
    // A signal half way through would leave half a file behind.
    let stop = Stop::on_signals().map_err(failed)?;
    replace(file, &stop, content).map_err(|error| {
        if stop.is_requested() {
            return Trouble::interrupted(format!("interrupted; {} is not written", file.display()));
        }
        failed(error)
    })
}

fn replace(
    file: &Path,
    stop: &Stop,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // What a link points to is replaced, and keeps its permissions.
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = file.with_file_name(name);
    let out = File::create_new(&new)?;
    let kept =
        metadata(file).map_or(Ok(()), |existing| out.set_permissions(existing.permissions()));
    let written = kept.and_then(|()| fill(&mut Stoppable { out, stop }, content));
    let replaced = written.and_then(|()| rename(&new, file));
    if replaced.is_err() {
        // Half a file is of no use.
        let _ = remove_file(&new);
    }
    replaced
}

fn fill(
    out: &mut dyn Write,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, out);
    content(&mut out)?;
    out.flush()
}

/// A file that refuses more once a signal asked to stop.
struct Stoppable<'a> {
    out: File,
    stop: &'a Stop,
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.is_requested() {
            return Err(io::Error::other("interrupted"));
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
