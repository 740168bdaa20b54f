//! A file of separated values as a stream of rows, with the number of each line.

use super::one_line;
use super::rows::other_length;
use crate::Error;
use crate::exports::{self, Exported};
use crate::head::Head;
use crate::{TableRequest, samples};
use csv::{ByteRecord, ReaderBuilder, Trim};
use encoding_rs::WINDOWS_1252;
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use model::Warning;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{File, metadata};
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::time::SystemTime;

/// A line that is longer than this is no line of a table.
pub const LINE_MAX: usize = 1 << 20;

/// So many bytes tell what a file is.
const HEAD_BYTES: u64 = 1 << 16;

/// A larger export is no result of a benchmark.
const EXPORT_MAX: usize = 64 << 20;

/// Whether it begins as a JSON object does, and so as no table.
fn is_json(head: &[u8]) -> bool {
    let bytes = head.trim_ascii_start();
    let inside = bytes.strip_prefix(b"[").map_or(bytes, <[u8]>::trim_ascii_start);
    inside.starts_with(b"{")
}

/// A table, opened.
pub struct Source {
    /// What it is called in messages: its name as typed, or `standard input`.
    pub name: String,
    /// What its run is called: the file's name without its ending.
    pub stem: String,
    /// When the figures were last touched; absent for what is no file.
    pub modified: Option<SystemTime>,
    /// Whether semicolons separate the fields: then a point may separate thousands.
    pub semicolons: bool,
    /// The number of the line that has the names of the columns.
    pub header_line: u64,
    /// What was passed over above the names.
    pub preamble: Option<String>,
    /// The first line that is not UTF-8, and was read as Windows-1252.
    pub windows_1252: Option<u64>,
    rows: csv::Reader<Watched>,
    record: ByteRecord,
    seen: Rc<RefCell<Seen>>,
    wide: Option<Wide>,
}

/// A table with a column for each series: a line of it is read as one line a series.
struct Wide {
    header: Vec<String>,
    series: Vec<usize>,
    /// The line that is read, and how many series of it were.
    line: InputLine,
    taken: usize,
}

impl Wide {
    /// The fields of no series, then the name and the figure of one.
    fn take(&mut self, line: &mut InputLine) {
        let column = self.series[self.taken];
        line.number = self.line.number;
        line.fields =
            self.long(&self.line.fields, [&self.header[column], &self.line.fields[column]]);
        self.taken += 1;
    }

    /// The fields of no series, and these.
    fn long(&self, fields: &[String], last: [&str; 2]) -> Vec<String> {
        let shared = fields.iter().enumerate().filter(|(at, _)| !self.series.contains(at));
        shared.map(|(_, field)| field.clone()).chain(last.map(str::to_owned)).collect()
    }
}

/// What the two columns are called that stand for the series of a wide table.
pub const SERIES: &str = "series";
pub const FIGURE: &str = "figure";

/// One line of the table.
#[derive(Default)]
pub struct InputLine {
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
    bytes: Bytes,
}

/// UTF-8 without the mark that some programs begin a file with; UTF-16 with its mark is decoded.
type Decoded = BufReader<DecodeReaderBytes<Box<dyn Read>, Vec<u8>>>;
/// What was looked at already, and what follows.
type Bytes = Chain<Cursor<Vec<u8>>, Decoded>;

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
        let decoded =
            DecodeReaderBytesBuilder::new().utf8_passthru(true).strip_bom(true).build(bytes);
        let bytes = Cursor::default().chain(BufReader::with_capacity(1 << 16, decoded));
        Input { name: name.to_owned(), stem: String::new(), modified: None, bytes }
    }

    /// The table that an export or samples make, with what was asked for, completed, and what was assumed; otherwise itself.
    pub(crate) fn into_table(
        mut self,
        request: &TableRequest,
    ) -> Result<(Input, Option<TableRequest>, Vec<Warning>), Error> {
        let head = self.head()?;
        let export = exports::recognised(head);
        let has_samples = samples::is_line(head);
        if export.is_none() && !is_json(head) {
            return Ok((self, None, Vec::new()));
        }
        let (name, stem, modified) = (self.name.clone(), self.stem.clone(), self.modified);
        let bytes = self.read_up_to(EXPORT_MAX)?;
        if bytes.len() > EXPORT_MAX {
            let what = format!("{name} has more than {} MiB; take a part", EXPORT_MAX >> 20);
            return Err(Error::Refused(what));
        }
        let refused = |what: String| Error::Refused(format!("{name}{what}"));
        let input = |table| Input {
            stem: stem.clone(),
            modified,
            // Its lines are not those of the file.
            ..Input::new(&format!("{name}, as a table"), Box::new(Cursor::new(table)))
        };
        match export {
            Some(export) => match export.table(&bytes, request).map_err(refused)? {
                Some(Exported { table, request, warnings }) => {
                    Ok((input(table), Some(request), warnings))
                }
                None => Ok((input(bytes), None, Vec::new())),
            },
            None if has_samples => {
                Ok((input(samples::table(&bytes).map_err(refused)?), None, Vec::new()))
            }
            None => Err(refused(format!(
                " is JSON of no program that knee reads; write it as a table, and name its columns by --x, --y and \
                 --by, or as samples, a line each: {}",
                samples::EXAMPLE
            ))),
        }
    }

    /// Its first bytes, before any is taken.
    fn head(&mut self) -> Result<&[u8], Error> {
        let (head, rest) = self.bytes.get_mut();
        if head.get_ref().is_empty() {
            let read = rest.take(HEAD_BYTES).read_to_end(head.get_mut());
            read.map_err(|error| unreadable(&self.name, error))?;
        }
        Ok(self.bytes.get_ref().0.get_ref())
    }

    /// Whether it begins as a run in JSON does: as JSON, but neither as an export nor as a sample.
    pub fn is_run(&mut self) -> Result<bool, Error> {
        let head = self.head()?;
        Ok(is_json(head) && exports::recognised(head).is_none() && !samples::is_first(head))
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
    /// A table that is about to be read. Its line of names is the first that `is_header` takes.
    pub fn new(input: Input, is_header: &dyn Fn(&[String]) -> bool) -> Result<Source, Error> {
        let Input { name, stem, modified, mut bytes } = input;
        let stem = match stem.as_str() {
            "-" | "" => "table".to_owned(),
            super::RESERVED_NAME => format!("{stem}.csv"),
            _ => stem,
        };
        let head = Head::read(&mut bytes).map_err(|error| unreadable(&name, error))?;
        let start =
            head.start(is_header).map_err(|what| Error::Refused(format!("{name} {what}")))?;
        let mut remaining = head.bytes;
        remaining.drain(..start.offset);
        let seen = Seen { lines: start.line - 1, ..Seen::default() };
        let seen = Rc::new(RefCell::new(seen));
        let input = Watched {
            input: Cursor::new(remaining).chain(bytes),
            seen: Rc::clone(&seen),
            padding: Padding::new(start.separator, start.line),
        };
        let rows = ReaderBuilder::new()
            .delimiter(start.separator)
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(input);
        Ok(Source {
            name,
            stem,
            modified,
            semicolons: start.separator == b';',
            header_line: start.line,
            preamble: start.preamble,
            windows_1252: None,
            rows,
            record: ByteRecord::new(),
            seen,
            wide: None,
        })
    }

    /// The names of the columns.
    pub fn header(&mut self) -> Result<Vec<String>, Error> {
        let mut header = InputLine::default();
        if !self.next(&mut header)? {
            return Err(Error::Refused(format!("{} has no line of column names", self.name)));
        }
        self.header_line = header.number;
        Ok(header.fields)
    }

    /// Has each of these columns of `header` read as a series: a line for each, with two columns in their stead. Returns the
    /// names of the columns that there are then.
    pub fn widen(&mut self, header: &[String], series: Vec<usize>) -> Vec<String> {
        let (taken, line) = (series.len(), InputLine::default());
        let wide = Wide { header: header.to_vec(), series, line, taken };
        let names = wide.long(header, [SERIES, FIGURE]);
        self.wide = Some(wide);
        names
    }

    /// The next line that has anything in it, into `line`; false where there is none.
    pub fn next(&mut self, line: &mut InputLine) -> Result<bool, Error> {
        let Some(mut wide) = self.wide.take() else { return self.next_record(line) };
        if wide.taken == wide.series.len() {
            if !self.next_record(&mut wide.line)? {
                return Ok(false);
            }
            if wide.line.fields.len() != wide.header.len() {
                let what = other_length(&wide.line, &wide.header, self);
                return Err(self.wrong(wide.line.number, &what));
            }
            wide.taken = 0;
        }
        if wide.line.fields == wide.header {
            // The names again, as where files were joined.
            line.number = wide.line.number;
            line.fields = wide.long(&wide.header, [SERIES, FIGURE]);
            wide.taken = wide.series.len();
        } else {
            wide.take(line);
        }
        self.wide = Some(wide);
        Ok(true)
    }

    fn next_record(&mut self, line: &mut InputLine) -> Result<bool, Error> {
        loop {
            let more = self.rows.read_byte_record(&mut self.record);
            if !more.map_err(|error| self.damaged(error))? {
                return Ok(false);
            }
            // What a spreadsheet leaves below a table: separators and nothing else.
            if !self.record.iter().all(<[u8]>::is_empty) {
                break;
            }
        }
        let from = self.record.position().map_or(0, csv::Position::byte);
        line.number = self.seen.borrow_mut().line(from);
        line.fields.resize_with(self.record.len(), String::new);
        for (bytes, field) in self.record.iter().zip(&mut line.fields) {
            let text = decoded(bytes);
            if matches!(text, Cow::Owned(_)) {
                self.windows_1252.get_or_insert(line.number);
            }
            field.clear();
            field.push_str(text.trim());
        }
        Ok(true)
    }

    /// The line of names, as messages call it.
    pub fn header_name(&self) -> String {
        match self.header_line {
            1 => "the first line".into(),
            line => format!("line {line}"),
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

/// A line that is too long and a quote without end are the file's fault; anything else is the machine's.
fn unreadable(name: &str, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::InvalidData => Error::Refused(format!("{name}, {error}")),
        _ => Error::Unreadable { name: name.to_owned(), error },
    }
}

/// A field as text: what is not UTF-8 is Windows-1252, as spreadsheets write it.
pub fn decoded(field: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(field) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(WINDOWS_1252.decode_without_bom_handling(field).0.into_owned()),
    }
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
    /// Looks at a line, or a part of it, which had `length` bytes with its padding; says whether it is too long.
    fn add(&mut self, piece: &[u8], length: usize) -> bool {
        let first = piece.iter().position(|byte| !byte.is_ascii_whitespace());
        if let Some(first) = first.filter(|_| self.blank) {
            self.starts.push_back((self.bytes + first as u64, self.lines + 1));
            self.blank = false;
        }
        self.bytes += piece.len() as u64;
        self.pending += length;
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

/// Takes a fingerprint of what is read, and stops at a line without end, which would fill the memory, and at a quote
/// without end, which would hide rows.
struct Watched {
    input: io::Chain<Cursor<Vec<u8>>, Bytes>,
    seen: Rc<RefCell<Seen>>,
    padding: Padding,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.input.read(buffer)?;
            let mut seen = self.seen.borrow_mut();
            seen.hash = hashed(seen.hash, &buffer[..read]);
            let mut kept = 0;
            let mut from = 0;
            while from < read {
                let piece = buffer[from..read].iter().position(|&byte| byte == b'\n');
                let to = piece.map_or(read, |at| from + at + 1);
                let kept_to = self.padding.remove(buffer, from..to, kept);
                if seen.add(&buffer[kept..kept_to], to - from) {
                    let line = seen.lines + 1;
                    let what = format!("line {line}: it is longer than 1 MiB; this is no table");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, what));
                }
                (from, kept) = (to, kept_to);
            }
            if let Some(line) = self.padding.unclosed(read == 0) {
                let what =
                    format!("line {line}: a quote opens a field here, and nothing closes it");
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            // Nothing but padding is not yet the end.
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

/// Removes blanks in front of fields: the reader of the rows takes `; "x"` for a field without quotes. It also takes all
/// that follows an unclosed quote for one field, so where quotes open is known here.
pub struct Padding {
    separator: u8,
    line: u64,
    at: Position,
}

/// What the last byte was. Quotes have the line in which they open.
#[derive(Clone, Copy)]
enum Position {
    BeforeField,
    Unquoted,
    Quoted(u64),
    /// Behind a quote that ends the field, or that the next byte doubles.
    Closed(u64),
    /// In text behind a quote of another line: that one opens a field, and the one above was never closed.
    Torn(u64),
}

impl Padding {
    /// Of fields that begin in `line`.
    pub fn new(separator: u8, line: u64) -> Padding {
        Padding { separator, line, at: Position::BeforeField }
    }

    /// Moves `piece` of `buffer` to `kept`, without padding, and returns where it ends.
    pub fn remove(&mut self, buffer: &mut [u8], piece: Range<usize>, mut kept: usize) -> usize {
        for at in piece {
            let byte = buffer[at];
            let is_blank = byte == b' ' || (byte == b'\t' && self.separator != b'\t');
            let ends = byte == self.separator || byte == b'\n' || byte == b'\r';
            self.at = match self.at {
                Position::BeforeField if is_blank => continue,
                Position::BeforeField if byte == b'"' => Position::Quoted(self.line),
                Position::Quoted(opened) if byte == b'"' => Position::Closed(opened),
                Position::Closed(opened) if byte == b'"' => Position::Quoted(opened),
                Position::Closed(opened) if !ends && !is_blank && opened < self.line => {
                    Position::Torn(opened)
                }
                inside @ (Position::Quoted(_) | Position::Torn(_)) => inside,
                _ if ends => Position::BeforeField,
                _ => Position::Unquoted,
            };
            self.line += u64::from(byte == b'\n');
            buffer[kept] = byte;
            kept += 1;
        }
        kept
    }

    /// The line that opens quotes which nothing closes, as far as it is known.
    fn unclosed(&self, is_end: bool) -> Option<u64> {
        match self.at {
            Position::Torn(opened) => Some(opened),
            Position::Quoted(opened) if is_end => Some(opened),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_that_of_fnv() {
        // From the authors' test vectors.
        assert_eq!(hashed(HASH_OF_NOTHING, b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hashed(HASH_OF_NOTHING, b"foobar"), 0x8594_4171_f739_67e8);
    }
}
