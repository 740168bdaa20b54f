//! How replies are written.

use std::collections::VecDeque;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::rc::Rc;

use crate::request::range::Span;
use crate::response::status::Status;
use crate::response::{Body, Part};
use crate::site::content::{Facts, date};

/// The first line of most replies; heads are kept with it.
const OK: &[u8] = b"HTTP/1.1 200 OK\r\n";

/// What becomes of the connection after the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is kept, as connections of HTTP/1.1 are.
    Kept,
    /// It is kept for HTTP/1.0, where a header has to announce that.
    KeptOld,
    Closed,
}

/// The beginnings of heads, made anew once a second: they hold the date.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    second: Option<u64>,
    /// One for each fate.
    beginnings: [Vec<u8>; 3],
}

impl Heads {
    pub(crate) fn tick(&mut self, second: u64) {
        if self.second == Some(second) {
            return;
        }
        self.second = Some(second);
        let fates = ["", "Connection: keep-alive\r\n", "Connection: close\r\n"];
        for (beginning, fate) in self.beginnings.iter_mut().zip(fates) {
            beginning.clear();
            beginning.extend_from_slice(OK);
            put(beginning, format_args!("Server: knee\r\nDate: {}\r\n{fate}", date(second)));
        }
    }

    /// The first lines of a head that says OK.
    pub(crate) fn ok(&self, fate: Fate) -> &[u8] {
        &self.beginnings[fate as usize]
    }

    /// The lines of any head that follow the first one.
    fn common(&self, fate: Fate) -> &[u8] {
        &self.ok(fate)[OK.len()..]
    }
}

/// Where the bytes of a file come from.
#[derive(Clone, Debug)]
pub(crate) enum Source<'a> {
    Kept(&'a [u8]),
    File(Rc<File>),
}

pub(crate) struct Writer<'a> {
    pub heads: &'a Heads,
    pub fate: Fate,
    /// The reply is to a HEAD: what would follow is announced and not sent.
    pub head_only: bool,
    pub out: &'a mut Vec<u8>,
}

impl Writer<'_> {
    /// A reply that is no file; `lines` are more lines of its head. Returns the bytes of its body.
    pub(crate) fn plain(&mut self, status: Status, lines: &[u8]) -> u64 {
        let line = status.line();
        self.begin(status);
        self.out.extend_from_slice(lines);
        let length = line.len() + 1;
        put(self.out, format_args!("Content-Type: text/plain\r\nContent-Length: {length}\r\n\r\n"));
        if self.head_only {
            return 0;
        }
        put(self.out, format_args!("{line}\n"));
        length as u64
    }

    pub(crate) fn not_modified(&mut self, facts: &Facts) {
        self.begin(Status::NotModified);
        validators(facts, self.out);
        self.out.extend_from_slice(b"\r\n");
    }

    pub(crate) fn whole(&mut self, facts: &Facts, source: Source<'_>) -> Option<Body> {
        self.out.extend_from_slice(self.heads.ok(self.fate));
        end_of_whole(facts, self.out);
        self.send(source, Span { start: 0, end: facts.bytes })
    }

    pub(crate) fn part(&mut self, facts: &Facts, source: Source<'_>, span: Span) -> Option<Body> {
        let (media, charset) = facts.media;
        self.begin(Status::PartialContent);
        let length = span.bytes();
        put(
            self.out,
            format_args!("Content-Type: {media}{charset}\r\nContent-Length: {length}\r\n"),
        );
        content_range(facts, span, self.out);
        validators(facts, self.out);
        self.out.extend_from_slice(b"\r\n");
        self.send(source, span)
    }

    /// Several parts, each with a head of its own. Returns the bytes of all of it as well.
    pub(crate) fn parts(
        &mut self,
        facts: &Facts,
        source: Source<'_>,
        spans: &[Span],
    ) -> (u64, Option<Body>) {
        let boundary = boundary();
        let heads: Vec<_> = spans.iter().map(|span| part_head(facts, *span, &boundary)).collect();
        let end = format!("\r\n--{boundary}--\r\n").into_bytes();
        let head_bytes: usize = heads.iter().map(Vec::len).sum::<usize>() + end.len();
        let length = head_bytes as u64 + spans.iter().map(|span| span.bytes()).sum::<u64>();
        self.begin(Status::PartialContent);
        put(
            self.out,
            format_args!(
                "Content-Type: multipart/byteranges; boundary={boundary}\r\n\
                 Content-Length: {length}\r\n"
            ),
        );
        validators(facts, self.out);
        self.out.extend_from_slice(b"\r\n");
        (length, self.send_parts(source, heads.into_iter().zip(spans.iter().copied()), end))
    }

    fn send_parts(
        &mut self,
        source: Source<'_>,
        parts: impl Iterator<Item = (Vec<u8>, Span)>,
        end: Vec<u8>,
    ) -> Option<Body> {
        match source {
            Source::Kept(bytes) => {
                for (head, span) in parts {
                    self.out.extend_from_slice(&head);
                    self.out.extend_from_slice(cut(bytes, span));
                }
                self.out.extend_from_slice(&end);
                None
            }
            Source::File(file) => {
                let mut body = VecDeque::new();
                for (head, span) in parts {
                    body.push_back(Part::Bytes(head));
                    body.push_back(piece(&file, span));
                }
                body.push_back(Part::Bytes(end));
                Some(Body { parts: body })
            }
        }
    }

    fn begin(&mut self, status: Status) {
        put(self.out, format_args!("HTTP/1.1 {}\r\n", status.line()));
        self.out.extend_from_slice(self.heads.common(self.fate));
    }

    fn send(&mut self, source: Source<'_>, span: Span) -> Option<Body> {
        match source {
            _ if self.head_only || span.bytes() == 0 => None,
            Source::Kept(bytes) => {
                self.out.extend_from_slice(cut(bytes, span));
                None
            }
            Source::File(file) => Some(Body { parts: VecDeque::from([piece(&file, span)]) }),
        }
    }
}

/// What stands before a part of several.
fn part_head(facts: &Facts, span: Span, boundary: &str) -> Vec<u8> {
    let (media, charset) = facts.media;
    let mut head = Vec::new();
    put(&mut head, format_args!("\r\n--{boundary}\r\nContent-Type: {media}{charset}\r\n"));
    content_range(facts, span, &mut head);
    head.extend_from_slice(b"\r\n");
    head
}

/// The lines that tell of a file sent whole, and the empty line after them.
pub(crate) fn end_of_whole(facts: &Facts, out: &mut Vec<u8>) {
    let ((media, charset), bytes) = (facts.media, facts.bytes);
    put(out, format_args!("Content-Type: {media}{charset}\r\nContent-Length: {bytes}\r\n"));
    validators(facts, out);
    out.extend_from_slice(b"Accept-Ranges: bytes\r\n\r\n");
}

fn validators(facts: &Facts, out: &mut Vec<u8>) {
    if let Some(second) = facts.modified {
        put(out, format_args!("Last-Modified: {}\r\n", date(second)));
    }
    put(out, format_args!("ETag: {}\r\n", facts.etag));
}

fn content_range(facts: &Facts, span: Span, out: &mut Vec<u8>) {
    let (start, last, bytes) = (span.start, span.end - 1, facts.bytes);
    put(out, format_args!("Content-Range: bytes {start}-{last}/{bytes}\r\n"));
}

fn piece(file: &Rc<File>, span: Span) -> Part {
    Part::File { file: Rc::clone(file), at: span.start, bytes: span.bytes() }
}

fn cut(bytes: &[u8], span: Span) -> &[u8] {
    // Spans lie within the file, and a file that is kept is kept whole.
    bytes.get(span.start as usize..span.end as usize).unwrap_or_default()
}

/// No author of a file can know it beforehand: it is drawn anew for each reply.
fn boundary() -> String {
    let drawn = RandomState::new();
    format!("{:016x}{:016x}", drawn.hash_one(0), drawn.hash_one(1))
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory can't fail.
    let _ = out.write_fmt(text);
}
