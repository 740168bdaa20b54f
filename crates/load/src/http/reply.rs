//! Replies, as far as a generator has to understand them: where each ends, and its status.

use httparse::{Header, ParserConfig, Response, Status};
use std::mem::MaybeUninit;

/// Header lines of one reply, more than servers send; more are malformed.
const HEADERS_MAX: usize = 500;
/// Bytes of one head; more are malformed.
const HEAD_BYTES_MAX: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Whole(Whole),
    /// All bytes are used up, and the reply goes on.
    More,
    /// This is not HTTP.
    Malformed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    /// Bytes of those that were fed that belong to it.
    pub used: usize,
    /// All of its bytes.
    pub bytes: u64,
    pub head: ReplyHead,
}

/// How the end of a body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// It has so many bytes.
    Length(u64),
    /// It comes in chunks.
    Chunked,
    /// It is that of the connection.
    UntilClose,
}

/// What the head of a reply says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHead {
    /// Its own length, in bytes.
    pub bytes: usize,
    /// The status.
    pub status: u16,
    /// Whether it says that the connection ends.
    pub announces_end: bool,
    /// Whether it is of HTTP/1.0, which ends connections unless it says otherwise.
    pub is_http_10: bool,
    /// How the body ends.
    pub framing: Framing,
}

/// The last head and its meaning. Servers repeat their heads, so most are parsed once a second, when the
/// date changes.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    bytes: Vec<u8>,
    head: Option<ReplyHead>,
}

impl Heads {
    /// Where the last head says that its target is.
    pub(crate) fn location(&self) -> Option<&str> {
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let (response, _) = response(&self.bytes, &mut headers).ok()?;
        let mut headers = response.headers.iter();
        let value = headers.find(|header| header.name.eq_ignore_ascii_case("location"))?.value;
        std::str::from_utf8(value).ok().map(str::trim)
    }
}

#[derive(Clone, Copy, Debug)]
enum Body {
    /// The head has not ended yet.
    None,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
}

/// The reply that a connection waits for.
#[derive(Debug)]
pub(crate) struct Reply {
    body: Body,
    /// The beginning of a head, or of a line between chunks, that arrives in pieces.
    pending: Vec<u8>,
    head: ReplyHead,
    bytes: u64,
}

impl Default for Reply {
    fn default() -> Reply {
        let framing = Framing::UntilClose;
        let head =
            ReplyHead { bytes: 0, status: 0, announces_end: false, is_http_10: false, framing };
        Reply { body: Body::None, pending: Vec::new(), head, bytes: 0 }
    }
}

impl Reply {
    pub(crate) fn has_begun(&self) -> bool {
        self.bytes > 0 || !matches!(self.body, Body::None)
    }

    /// The bytes of the body that came of a reply that has begun, and those that its head announces, if it does.
    pub(crate) fn part(&self) -> Option<(u64, Option<u64>)> {
        let announced = match self.body {
            Body::None => return None,
            Body::Length(_) => match self.head.framing {
                Framing::Length(bytes) => Some(bytes),
                _ => None,
            },
            _ => None,
        };
        Some((self.bytes - self.head.bytes as u64, announced))
    }

    pub(crate) fn clear(&mut self) {
        self.pending.clear();
        self.body = Body::None;
        self.bytes = 0;
    }

    /// Takes bytes up to the end of the reply, or all of them.
    #[inline]
    pub(crate) fn feed(&mut self, input: &[u8], heads: &mut Heads) -> Step {
        let mut used = 0;
        loop {
            if let Body::None = self.body {
                match self.head(&input[used..], heads) {
                    Ok(Some(taken)) => used += taken,
                    Ok(None) => return Step::More,
                    Err(()) => return Step::Malformed,
                }
                // An interim reply: the one that is waited for comes after it.
                if let Body::None = self.body {
                    continue;
                }
            }
            return match self.body(&input[used..]) {
                Ok(Some(taken)) => Step::Whole(self.whole(used + taken)),
                Ok(None) => Step::More,
                Err(()) => Step::Malformed,
            };
        }
    }

    /// The connection has ended: the reply, if that is how it ends.
    pub(crate) fn end(&mut self) -> Option<Whole> {
        match self.body {
            Body::UntilClose => Some(self.whole(0)),
            _ => None,
        }
    }

    fn whole(&mut self, used: usize) -> Whole {
        let whole = Whole { used, bytes: self.bytes, head: self.head };
        self.body = Body::None;
        self.bytes = 0;
        whole
    }

    /// Takes the head, if it is all there: how many bytes of the input it was.
    #[inline]
    fn head(&mut self, input: &[u8], heads: &mut Heads) -> Result<Option<usize>, ()> {
        if self.pending.is_empty() {
            let cached = heads.head.filter(|_| input.starts_with(&heads.bytes));
            let head = match cached {
                Some(head) => head,
                None => match parse(input)? {
                    Some(head) => heads.keep(&input[..head.bytes], head),
                    None => return self.keep_head_start(input),
                },
            };
            self.begin(head);
            return Ok(Some(head.bytes));
        }
        let before = self.pending.len();
        self.pending.extend_from_slice(input);
        let Some(head) = parse(&self.pending)? else {
            self.pending.truncate(before);
            return self.keep_head_start(input);
        };
        self.pending.clear();
        self.bytes -= before as u64;
        self.begin(head);
        Ok(Some(head.bytes - before))
    }

    fn keep_head_start(&mut self, input: &[u8]) -> Result<Option<usize>, ()> {
        self.pending.extend_from_slice(input);
        self.bytes += input.len() as u64;
        if self.pending.len() > HEAD_BYTES_MAX { Err(()) } else { Ok(None) }
    }

    fn begin(&mut self, head: ReplyHead) {
        self.bytes += head.bytes as u64;
        self.head = head;
        self.body = match head.framing {
            _ if head.status < 200 => Body::None,
            Framing::Length(bytes) => Body::Length(bytes),
            Framing::Chunked => Body::Chunked(Chunked::Size),
            Framing::UntilClose => Body::UntilClose,
        };
    }

    /// Takes bytes of the body: how many, if it ends there.
    #[inline]
    fn body(&mut self, input: &[u8]) -> Result<Option<usize>, ()> {
        let (taken, ended) = match &mut self.body {
            Body::None | Body::UntilClose => (input.len(), false),
            Body::Length(left) => {
                let taken = (input.len() as u64).min(*left) as usize;
                *left -= taken as u64;
                (taken, *left == 0)
            }
            Body::Chunked(chunked) => chunked.take(input, &mut self.pending)?,
        };
        self.bytes += taken as u64;
        Ok(ended.then_some(taken))
    }
}

impl Heads {
    fn keep(&mut self, bytes: &[u8], head: ReplyHead) -> ReplyHead {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.head = Some(head);
        head
    }
}

impl ReplyHead {
    /// Of a whole head, of HTTP/1.0 or 1.1; none where it is not one.
    pub fn parse(head: &[u8]) -> Option<ReplyHead> {
        parse(head).ok()?
    }

    /// Whether the connection can be used on.
    #[inline]
    pub fn keeps(&self) -> bool {
        !self.announces_end && self.framing != Framing::UntilClose
    }
}

/// A head with its lines, and its length if it is all there. The memory of `lines` is not cleared for each reply.
fn response<'h, 'b>(
    input: &'b [u8],
    lines: &'h mut [MaybeUninit<Header<'b>>; HEADERS_MAX],
) -> Result<(Response<'h, 'b>, Status<usize>), ()> {
    let mut response = Response::new(&mut []);
    let parsed = ParserConfig::default()
        .parse_response_with_uninit_headers(&mut response, input, lines)
        .map_err(|_| ())?;
    Ok((response, parsed))
}

/// What a head says; none if it is not all there.
fn parse(input: &[u8]) -> Result<Option<ReplyHead>, ()> {
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let (response, bytes) = response(input, &mut headers)?;
    let Status::Complete(bytes) = bytes else { return Ok(None) };
    let status = response.code.ok_or(())?;
    // 101 gives the connection to another protocol, which was not asked for.
    if !(100..600).contains(&status) || status == 101 {
        return Err(());
    }
    let is_http_10 = response.version == Some(0);
    let mut announces_end = is_http_10;
    let (mut length, mut chunked) = (None, false);
    for header in response.headers.iter() {
        let value = header.value.trim_ascii();
        if header.name.eq_ignore_ascii_case("content-length") {
            let bytes = whole_number(value)?;
            if length.is_some_and(|length| length != bytes) {
                return Err(());
            }
            length = Some(bytes);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            let last = value.rsplit(|&byte| byte == b',').next().unwrap_or_default();
            if !last.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                return Err(());
            }
            chunked = true;
        } else if header.name.eq_ignore_ascii_case("connection") {
            for word in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
                if word.eq_ignore_ascii_case(b"close") {
                    announces_end = true;
                } else if word.eq_ignore_ascii_case(b"keep-alive") && is_http_10 {
                    announces_end = false;
                }
            }
        }
    }
    let framing = match length {
        _ if matches!(status, 100..=199 | 204 | 304) => Framing::Length(0),
        _ if chunked => Framing::Chunked,
        Some(length) => Framing::Length(length),
        None => Framing::UntilClose,
    };
    Ok(Some(ReplyHead { bytes, status, announces_end, is_http_10, framing }))
}

/// A number of digits only: no sign, no space, nothing that wraps.
fn whole_number(value: &[u8]) -> Result<u64, ()> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(());
    }
    std::str::from_utf8(value).ok().and_then(|value| value.parse().ok()).ok_or(())
}

/// What comes next in a chunked body.
#[derive(Clone, Copy, Debug)]
enum Chunked {
    /// The line with the size of a chunk.
    Size,
    Data {
        left: u64,
    },
    /// The end of the line of data.
    DataEnd,
    /// The line of a trailer, or the empty line that ends everything.
    Trailer,
}

impl Chunked {
    /// Takes bytes: how many, and whether the body ends with them. The beginning of a line is kept as `pending`.
    fn take(&mut self, input: &[u8], pending: &mut Vec<u8>) -> Result<(usize, bool), ()> {
        let mut used = 0;
        while used < input.len() {
            let rest = &input[used..];
            if let Chunked::Data { left } = self {
                let taken = rest.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                used += taken;
                if *left == 0 {
                    *self = Chunked::DataEnd;
                }
                continue;
            }
            let end = rest.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(rest.len(), |end| end + 1);
            pending.extend_from_slice(&rest[..taken]);
            used += taken;
            if pending.len() > HEAD_BYTES_MAX {
                return Err(());
            }
            let line = pending.strip_suffix(b"\n").unwrap_or(pending);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            // The beginning of a line shows already what it can't be.
            let next = match self {
                Chunked::Size => match chunk_bytes(line)? {
                    0 => Chunked::Trailer,
                    left => Chunked::Data { left },
                },
                Chunked::DataEnd if line.is_empty() => Chunked::Size,
                Chunked::Trailer if !line.is_empty() || end.is_none() => Chunked::Trailer,
                Chunked::Trailer => {
                    pending.clear();
                    return Ok((used, true));
                }
                Chunked::DataEnd | Chunked::Data { .. } => return Err(()),
            };
            if end.is_some() {
                *self = next;
                pending.clear();
            }
        }
        Ok((used, false))
    }
}

/// The size in the line before a chunk, which extensions may follow.
fn chunk_bytes(line: &[u8]) -> Result<u64, ()> {
    let digits = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    if !matches!(line.get(digits), None | Some(b';' | b' ' | b'\t')) {
        return Err(());
    }
    let size = std::str::from_utf8(&line[..digits]).map_err(|_| ())?;
    u64::from_str_radix(size, 16).map_err(|_| ())
}

#[cfg(test)]
mod tests;
