//! A file of separated values as a stream of rows, with the number of each line.

use super::one_line;
use crate::Error;
use csv::{ByteRecord, ReaderBuilder, Trim};
use findings::format::quantity;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{File, metadata};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;
use std::time::SystemTime;

/// A line that is longer than this is no line of a table.
const LINE_MAX: usize = 1 << 20;

/// A table, opened.
pub struct Source {
    /// What it is called in messages: its name as typed, or `standard input`.
    pub name: String,
    /// What its run is called: the file's name without its ending.
    pub stem: String,
    /// When the figures were last touched; absent for what is no file.
    pub modified: Option<SystemTime>,
    /// Whether semicolons separate the fields: then a comma may be a decimal sign.
    pub semicolons: bool,
    rows: csv::Reader<Watched>,
    seen: Rc<RefCell<Seen>>,
}

/// One line of the table.
pub struct Line {
    /// Its number in the file, counted from 1.
    pub number: u64,
    /// Its fields, trimmed.
    pub fields: Vec<String>,
}

/// A file or a stream to be read, with its name.
pub struct Input {
    /// What it is called in messages: its name as typed, or `standard input`.
    pub name: String,
    /// The file's name without its ending.
    stem: String,
    modified: Option<SystemTime>,
    bytes: BufReader<Box<dyn Read>>,
}

impl Input {
    /// Opens `file`, or standard input for `-`.
    pub fn open(file: &Path) -> Result<Input, Error> {
        if file.as_os_str() == "-" {
            return Ok(Input::new("standard input", Box::new(io::stdin())));
        }
        let name = one_line(&file.to_string_lossy());
        let opened = open(file).map_err(|why| Error::Refused(format!("{name}: {why}")))?;
        let stem =
            file.file_stem().map(|stem| one_line(&stem.to_string_lossy())).unwrap_or_default();
        let modified = metadata(file).and_then(|m| m.modified()).ok();
        Ok(Input { stem, modified, ..Input::new(&name, Box::new(opened)) })
    }

    /// What is no file, by the name that messages give it.
    pub fn new(name: &str, bytes: Box<dyn Read>) -> Input {
        let bytes = BufReader::new(bytes);
        Input { name: name.to_owned(), stem: String::new(), modified: None, bytes }
    }

    /// Whether it begins as a JSON object does, and so as no table.
    pub fn is_json(&mut self) -> Result<bool, Error> {
        let head = self.bytes.fill_buf().map_err(|error| unreadable(&self.name, error))?;
        Ok(head.trim_ascii_start().starts_with(b"{"))
    }

    /// All of it, but at most one byte more than `bytes_max`.
    pub fn read_up_to(self, bytes_max: usize) -> Result<Vec<u8>, Error> {
        let mut all = Vec::new();
        let mut bytes = self.bytes.take(bytes_max as u64 + 1);
        bytes.read_to_end(&mut all).map_err(|error| unreadable(&self.name, error))?;
        Ok(all)
    }
}

impl Source {
    /// A table that is about to be read.
    pub fn new(input: Input) -> Result<Source, Error> {
        let Input { name, stem, modified, mut bytes } = input;
        let stem = match stem.as_str() {
            "-" | "" => "table".to_owned(),
            super::RESERVED_NAME => format!("{stem}.csv"),
            _ => stem,
        };
        let head = first_line(&mut bytes).map_err(|error| unreadable(&name, error))?;
        if head.is_empty() {
            return Err(Error::Refused(format!(
                "{name} is empty; it needs a line of column names"
            )));
        }
        let separator = separator(&head);
        let seen = Rc::new(RefCell::new(Seen::default()));
        let input = Watched { input: Cursor::new(head).chain(bytes), seen: Rc::clone(&seen) };
        let rows = ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(input);
        Ok(Source { name, stem, modified, semicolons: separator == b';', rows, seen })
    }

    /// The names of the columns, from the first line.
    pub fn header(&mut self) -> Result<Vec<String>, Error> {
        let nothing = || Error::Refused(format!("{} has no line of column names", self.name));
        let missing = nothing();
        Ok(self.next(None)?.ok_or(missing)?.fields)
    }

    /// The next line that has anything in it, or none. It must have as many fields as there are
    /// `columns`.
    pub fn next(&mut self, columns: Option<usize>) -> Result<Option<Line>, Error> {
        let mut record = ByteRecord::new();
        loop {
            let more = self.rows.read_byte_record(&mut record);
            if !more.map_err(|error| self.damaged(error))? {
                return Ok(None);
            }
            // What a spreadsheet leaves below a table: separators and nothing else.
            if !record.iter().all(<[u8]>::is_empty) {
                break;
            }
        }
        let number = self.seen.borrow_mut().line(record.position().map_or(0, csv::Position::byte));
        if let Some(columns) = columns.filter(|&columns| columns != record.len()) {
            let fields = quantity(record.len() as u64, "field");
            let what = format!("{fields} where the first line names {columns} columns");
            return Err(self.wrong(number, &what));
        }
        let fields: Result<Vec<String>, _> =
            record.iter().map(|field| std::str::from_utf8(field).map(trimmed)).collect();
        match fields {
            Ok(fields) => Ok(Some(Line { number, fields })),
            Err(_) => Err(self.wrong(number, "this is not UTF-8; save the file as UTF-8")),
        }
    }

    /// What is wrong with a line.
    pub fn wrong(&self, line: u64, what: &str) -> Error {
        Error::Refused(format!("{}, line {line}: {what}", self.name))
    }

    /// A number that stands for all that was read: the same for the same content, always.
    pub fn fingerprint(&self) -> u64 {
        self.seen.borrow().hash
    }

    fn damaged(&self, error: csv::Error) -> Error {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => unreadable(&self.name, error),
            kind => Error::Refused(format!("{}: {kind:?}", self.name)),
        }
    }
}

/// Without the spaces around it, Unicode's included.
fn trimmed(field: &str) -> String {
    field.trim().to_owned()
}

fn open(file: &Path) -> Result<File, String> {
    let opened = File::open(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "it may not be read; see `ls -l`".to_owned(),
        _ => error.to_string(),
    })?;
    if opened.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err("that is a directory; name a file in it".into());
    }
    Ok(opened)
}

/// A line that is too long is the file's fault; anything else is the machine's.
fn unreadable(name: &str, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::InvalidData => Error::Refused(format!("{name}, {error}")),
        _ => Error::Unreadable { name: name.to_owned(), error },
    }
}

/// The lines down to the first that has anything in it, without the mark that some programs begin a
/// file with; or nothing.
fn first_line(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let mut head = Vec::new();
    // What is longer is refused where all lines are looked at.
    let mut input = input.take(LINE_MAX as u64 + 1);
    while head.trim_ascii().is_empty() && input.read_until(b'\n', &mut head)? > 0 {
        if head.starts_with(MARK) {
            head.drain(..MARK.len());
        }
    }
    Ok(if head.trim_ascii().is_empty() { Vec::new() } else { head })
}

/// What separates the fields of this line: of comma, semicolon and tab the one that stands there
/// most often, outside of quotes.
fn separator(line: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [(b',', 0_usize), (b';', 0), (b'\t', 0)];
    for &byte in line {
        quoted ^= byte == b'"';
        for (_, count) in counts.iter_mut().filter(|(sign, _)| *sign == byte && !quoted) {
            *count += 1;
        }
    }
    // Of equals the first: max_by_key would take the last.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(sign, _)| *sign)
}

/// What passed through a [`Watched`].
struct Seen {
    hash: u64,
    bytes: u64,
    lines: u64,
    /// Bytes since the last line feed.
    pending: usize,
    /// Whether the line has had nothing but spaces so far.
    blank: bool,
    /// Where the lines begin that are not blank, and their numbers; those that are still to come.
    starts: VecDeque<(u64, u64)>,
}

impl Default for Seen {
    fn default() -> Seen {
        let (bytes, lines, pending) = (0, 0, 0);
        Seen { hash: HASH_OF_NOTHING, bytes, lines, pending, blank: true, starts: VecDeque::new() }
    }
}

impl Seen {
    /// Looks at a line, or a part of it, and says whether it is too long.
    fn add(&mut self, piece: &[u8]) -> bool {
        let first = piece.iter().position(|byte| !byte.is_ascii_whitespace());
        if let Some(first) = first.filter(|_| self.blank) {
            self.starts.push_back((self.bytes + first as u64, self.lines + 1));
            self.blank = false;
        }
        self.bytes += piece.len() as u64;
        self.pending += piece.len();
        let too_long = self.pending > LINE_MAX;
        if piece.ends_with(b"\n") {
            (self.lines, self.pending, self.blank) = (self.lines + 1, 0, true);
        }
        too_long
    }

    /// The number of the line that a row is on which was looked for from this byte on. The reader of
    /// the rows counts lines too, but not those that are blank, nor those that end in two signs.
    fn line(&mut self, from: u64) -> u64 {
        while self.starts.front().is_some_and(|(start, _)| *start < from) {
            self.starts.pop_front();
        }
        self.starts.front().map_or(self.lines, |(_, number)| *number)
    }
}

/// What [`hashed`] begins with.
pub const HASH_OF_NOTHING: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a: stable over versions and machines, as the standard hasher is not.
pub fn hashed(hash: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Takes a fingerprint of what is read, and stops at a line without end: it would fill the memory.
struct Watched {
    input: io::Chain<Cursor<Vec<u8>>, BufReader<Box<dyn Read>>>,
    seen: Rc<RefCell<Seen>>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let bytes = &buffer[..read];
        let mut seen = self.seen.borrow_mut();
        seen.hash = hashed(seen.hash, bytes);
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            if seen.add(piece) {
                let line = seen.lines + 1;
                let what = format!("line {line}: it is longer than 1 MiB; this is no table");
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_what_stands_between_the_names() {
        assert_eq!(separator(b"a,b,c\n"), b',');
        assert_eq!(separator(b"a;b;\"c,d,e,f\"\n"), b';');
        assert_eq!(separator(b"a\tb, c\td\n"), b'\t');
        assert_eq!(separator(b"alone\n"), b',');
    }

    #[test]
    fn a_fingerprint_is_that_of_fnv() {
        // From the authors' test vectors.
        assert_eq!(hashed(HASH_OF_NOTHING, b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hashed(HASH_OF_NOTHING, b"foobar"), 0x8594_4171_f739_67e8);
    }
}
