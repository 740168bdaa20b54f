//! The directory that is served, and the replies to requests for what is in it.
//!
//! Small files are cached and checked again once [`FRESH_MS`] have passed since the last check: a file that
//! was changed, replaced or removed is served as it was for at most that long.

pub(crate) mod cache;
pub(crate) mod content;
pub(crate) mod root;

use std::fs::File;
use std::path::Path;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::Error;
use crate::request::conditional::{self, Condition};
use crate::request::range::{self, Selected};
use crate::request::target;
use crate::request::{Method, Request};
use crate::response::Body;
use crate::response::status::Status;
use crate::response::writer::{Fate, Heads, Source, Writer, end_of_whole};
use crate::site::cache::Cache;
use crate::site::content::{CachedFile, Facts, Now, SMALL_BYTES, seconds};
use crate::site::root::{Lookup, Root, Stamp};

/// How long a file is taken to be what it was at the last look.
const FRESH_MS: u64 = 10;

/// The file that stands for its directory.
const INDEX: &[u8] = b"index.html";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub status: Status,
    /// Bytes of its body.
    pub bytes: u64,
}

/// A directory that is served by one worker.
#[derive(Debug)]
pub(crate) struct Site {
    root: Root,
    cache: Cache<CachedFile>,
    heads: Heads,
    now: Now,
    pub(crate) last_reply: Summary,
    /// The path of the request at hand.
    path: Vec<u8>,
}

enum Look {
    /// It is in the cache, and fresh.
    Kept,
    File(Rc<File>, Facts),
    Directory,
}

impl Site {
    /// Opens the directory; at most `cache_bytes` of small files are kept. `tick` comes before the first
    /// answer.
    pub(crate) fn open(root: &Path, cache_bytes: usize) -> Result<Site, Error> {
        let mut heads = Heads::default();
        heads.tick(0);
        Ok(Site {
            root: Root::open(root)?,
            cache: Cache::new(cache_bytes),
            heads,
            now: Now { ms: 0, wall: UNIX_EPOCH },
            last_reply: Summary { status: Status::Ok, bytes: 0 },
            path: Vec::new(),
        })
    }

    /// Once per turn of the loop: `now_ms` from a clock that only goes forward, `wall` for dates.
    pub(crate) fn tick(&mut self, now_ms: u64, wall: SystemTime) {
        self.now = Now { ms: now_ms, wall };
        self.heads.tick(seconds(wall));
    }

    /// Appends the head, and the body where it is small, to `out`; what is to be sent from a file is
    /// returned. One call appends at most [`SMALL_BYTES`] and some heads: who answers several requests
    /// into one `out` has to look at its length in between.
    pub(crate) fn answer(
        &mut self,
        request: &Request<'_>,
        keep_alive: bool,
        out: &mut Vec<u8>,
    ) -> Option<Body> {
        let fate = match keep_alive {
            true if request.old => Fate::KeptOld,
            true => Fate::Kept,
            false => Fate::Closed,
        };
        // The usual case: what is kept is kept under its plain path, which is how most ask for it.
        if request.method != Method::Other
            && request.is_plain()
            && let Some(kept) = self.cache.get(request.target)
            && self.now.ms.saturating_sub(kept.looked_ms) < FRESH_MS
        {
            let head_only = request.method == Method::Head;
            let tail = if head_only { &kept.tail[..kept.head_bytes] } else { &kept.tail };
            out.extend_from_slice(self.heads.ok(fate));
            out.extend_from_slice(tail);
            let bytes = if head_only { 0 } else { kept.facts.bytes };
            self.last_reply = Summary { status: Status::Ok, bytes };
            return None;
        }
        self.answer_at_length(request, fate, out)
    }

    /// Appends a reply that ends the connection, to what is no request.
    pub(crate) fn refuse(&mut self, status: Status, out: &mut Vec<u8>) {
        let heads = &self.heads;
        let mut writer = Writer { heads, fate: Fate::Closed, head_only: false, out };
        let bytes = writer.plain(status, b"");
        self.last_reply = Summary { status, bytes };
    }

    fn answer_at_length(
        &mut self,
        request: &Request<'_>,
        fate: Fate,
        out: &mut Vec<u8>,
    ) -> Option<Body> {
        let mut path = std::mem::take(&mut self.path);
        let looked = match request.method {
            Method::Other => Err(Status::MethodNotAllowed),
            _ => target::resolve(request.target, &mut path)
                .and_then(|query| self.look(&path).map(|look| (look, query))),
        };
        let head_only = request.method == Method::Head;
        let mut writer = Writer { heads: &self.heads, fate, head_only, out };
        let (summary, body) = match looked {
            Ok((Look::Kept, _)) => match self.cache.get(&path) {
                Some(kept) => send(&mut writer, request, &kept.facts, Source::Kept(kept.body())),
                None => plain(&mut writer, Status::InternalError, b""),
            },
            Ok((Look::File(file, facts), _)) => {
                send(&mut writer, request, &facts, Source::File(file))
            }
            Ok((Look::Directory, query)) => {
                plain(&mut writer, Status::MovedPermanently, &location(&path, query))
            }
            Err(status @ Status::MethodNotAllowed) => {
                plain(&mut writer, status, b"Allow: GET, HEAD\r\n")
            }
            Err(status) => {
                // What can be no target ends the connection, like all that is no request.
                if status == Status::BadRequest {
                    writer.fate = Fate::Closed;
                }
                plain(&mut writer, status, b"")
            }
        };
        self.last_reply = summary;
        self.path = path;
        body
    }

    /// Finds what a path leads to, in the cache or in the directory. A path that ends with a slash leads to
    /// the index of its directory.
    fn look(&mut self, path: &[u8]) -> Result<Look, Status> {
        let now = self.now;
        if self.cache.get(path).is_some_and(|kept| now.ms.saturating_sub(kept.looked_ms) < FRESH_MS)
        {
            return Ok(Look::Kept);
        }
        let lookup = if path.ends_with(b"/") { self.index(path) } else { self.root.find(path) };
        match lookup {
            Ok(Lookup::File(file, stamp)) => Ok(self.take_in(path, file, stamp)),
            Ok(Lookup::Directory) => {
                self.cache.remove(path);
                Ok(Look::Directory)
            }
            Err(status) => {
                self.cache.remove(path);
                Err(status)
            }
        }
    }

    /// Sees to it that what is kept for a path is this state of its file, or nothing.
    fn take_in(&mut self, path: &[u8], file: File, stamp: Stamp) -> Look {
        let now = self.now;
        if let Some(kept) = self.cache.get(path)
            && kept.is(&stamp)
        {
            kept.looked_ms = now.ms;
            return Look::Kept;
        }
        self.cache.remove(path);
        let named = if path.ends_with(b"/") { INDEX } else { path };
        let facts = Facts::new(named, &stamp, now.wall);
        // Other paths are not their own plain spelling, and would be found under what means another.
        let plain = !path.iter().any(|byte| b"%?#".contains(byte));
        if plain && stamp.bytes <= SMALL_BYTES {
            let mut head = Vec::new();
            end_of_whole(&facts, &mut head);
            let bytes = head.len() + stamp.bytes as usize;
            if self.cache.takes(path, bytes)
                && let Some(kept) = CachedFile::read(&file, stamp, facts.clone(), head, now)
            {
                self.cache.put(path, kept, bytes);
                return Look::Kept;
            }
        }
        Look::File(Rc::new(file), facts)
    }

    /// The index of a directory. A directory without one is not shown.
    fn index(&self, directory: &[u8]) -> Result<Lookup, Status> {
        match self.root.find(&[directory, INDEX].concat()) {
            Ok(Lookup::Directory) => Err(Status::Forbidden),
            Err(Status::NotFound) => match self.root.find(directory)? {
                Lookup::Directory => Err(Status::Forbidden),
                Lookup::File(..) => Err(Status::NotFound),
            },
            lookup => lookup,
        }
    }
}

/// Sends a file as its conditions and ranges ask for it.
fn send(
    writer: &mut Writer<'_>,
    request: &Request<'_>,
    facts: &Facts,
    source: Source<'_>,
) -> (Summary, Option<Body>) {
    let state = facts.state();
    match conditional::judge(request, state) {
        Condition::Send => {}
        Condition::Failed => return plain(writer, Status::PreconditionFailed, b""),
        Condition::NotModified => {
            writer.not_modified(facts);
            return (Summary { status: Status::NotModified, bytes: 0 }, None);
        }
    }
    // A range is defined for GET alone (RFC 9110, 14.2).
    let selected = match request.range {
        Some(range) if request.method == Method::Get && conditional::may_cut(request, state) => {
            range::select(range, facts.bytes)
        }
        _ => Selected::Whole,
    };
    let (status, bytes, body) = match selected {
        Selected::Whole => (Status::Ok, facts.bytes, writer.whole(facts, source)),
        Selected::Nothing => {
            let line = format!("Content-Range: bytes */{}\r\n", facts.bytes);
            return plain(writer, Status::RangeNotSatisfiable, line.as_bytes());
        }
        Selected::Spans(spans) => match spans.as_slice() {
            [span] => (Status::PartialContent, span.bytes(), writer.part(facts, source, *span)),
            spans => {
                let (bytes, body) = writer.parts(facts, source, spans);
                (Status::PartialContent, bytes, body)
            }
        },
    };
    let bytes = if writer.head_only { 0 } else { bytes };
    (Summary { status, bytes }, body)
}

fn plain(writer: &mut Writer<'_>, status: Status, lines: &[u8]) -> (Summary, Option<Body>) {
    let bytes = writer.plain(status, lines);
    (Summary { status, bytes }, None)
}

/// Where a directory is that was asked for without its slash. The path begins with one slash, so it never
/// names another host.
fn location(path: &[u8], query: &[u8]) -> Vec<u8> {
    let mut line = b"Location: ".to_vec();
    target::escape(path, &mut line);
    line.push(b'/');
    line.extend_from_slice(query);
    line.extend_from_slice(b"\r\n");
    line
}

#[cfg(test)]
mod tests;
