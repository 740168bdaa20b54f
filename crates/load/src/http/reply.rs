//! Replies, as far as a generator has to understand them: where each ends, and its status.

use httparse::{EMPTY_HEADER, Response, Status};

/// Header lines of one reply; more are malformed.
const HEADERS_MAX: usize = 100;
/// Bytes of one head; more are malformed.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The result of feeding bytes to a [`Reply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A reply ended.
    Whole(Whole),
    /// All bytes are used up, and the reply goes on.
    More,
    /// This is not HTTP.
    Malformed,
}

/// A reply that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    /// Bytes of those that were fed that belong to it.
    pub used: usize,
    /// Its status.
    pub status: u16,
    /// Whether the connection can be used on.
    pub keep: bool,
    /// Whether it is of HTTP/1.0, which ends connections unless it says otherwise.
    pub is_http_10: bool,
    /// All of its bytes.
    pub bytes: u64,
    /// Those of its head.
    pub head_bytes: u64,
    /// Whether its body comes in chunks, whose sizes are among its bytes.
    pub is_chunked: bool,
}

/// How the end of a body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    bytes: usize,
    status: u16,
    keep: bool,
    is_http_10: bool,
    framing: Framing,
}

/// The last head and its meaning. Servers repeat their heads, so most are parsed once a second, when the
/// date changes.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    bytes: Vec<u8>,
    head: Option<Head>,
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
    /// The beginning of a head that arrives in pieces.
    head_start: Vec<u8>,
    status: u16,
    keep: bool,
    is_http_10: bool,
    /// Bytes of this reply so far.
    bytes: u64,
    head_bytes: u64,
    is_chunked: bool,
}

impl Reply {
    pub(crate) fn new() -> Reply {
        Reply {
            body: Body::None,
            head_start: Vec::new(),
            status: 0,
            keep: true,
            is_http_10: false,
            bytes: 0,
            head_bytes: 0,
            is_chunked: false,
        }
    }

    /// Forgets a reply that has begun.
    pub(crate) fn clear(&mut self) {
        self.head_start.clear();
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
        let Reply { status, keep, is_http_10, bytes, head_bytes, is_chunked, .. } = *self;
        let whole = Whole { used, status, keep, is_http_10, bytes, head_bytes, is_chunked };
        self.body = Body::None;
        self.bytes = 0;
        whole
    }

    /// Takes the head, if it is all there: how many bytes of the input it was.
    #[inline]
    fn head(&mut self, input: &[u8], heads: &mut Heads) -> Result<Option<usize>, ()> {
        if self.head_start.is_empty() {
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
        let before = self.head_start.len();
        self.head_start.extend_from_slice(input);
        let Some(head) = parse(&self.head_start)? else {
            self.head_start.truncate(before);
            return self.keep_head_start(input);
        };
        self.head_start.clear();
        self.bytes -= before as u64;
        self.begin(head);
        Ok(Some(head.bytes - before))
    }

    /// Keeps the beginning of a head.
    fn keep_head_start(&mut self, input: &[u8]) -> Result<Option<usize>, ()> {
        self.head_start.extend_from_slice(input);
        self.bytes += input.len() as u64;
        if self.head_start.len() > HEAD_BYTES_MAX { Err(()) } else { Ok(None) }
    }

    fn begin(&mut self, head: Head) {
        self.bytes += head.bytes as u64;
        self.head_bytes = head.bytes as u64;
        self.is_chunked = head.framing == Framing::Chunked;
        self.status = head.status;
        self.keep = head.keep;
        self.is_http_10 = head.is_http_10;
        self.body = match head.framing {
            _ if head.status < 200 => Body::None,
            Framing::Length(bytes) => Body::Length(bytes),
            Framing::Chunked => Body::Chunked(Chunked::Size { size: 0, digits: 0 }),
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
            Body::Chunked(chunked) => chunked.take(input)?,
        };
        self.bytes += taken as u64;
        Ok(ended.then_some(taken))
    }
}

impl Heads {
    fn keep(&mut self, bytes: &[u8], head: Head) -> Head {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.head = Some(head);
        head
    }
}

/// What a head says of a reply whose body is read elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHead {
    /// The status.
    pub status: u16,
    /// The bytes of the body; absent where its end is that of the connection.
    pub body_bytes: Option<u64>,
    /// Whether the body comes in chunks.
    pub is_chunked: bool,
}

impl ReplyHead {
    /// Of a whole head, of HTTP/1.0 or 1.1; none where it is not one.
    pub fn parse(head: &[u8]) -> Option<ReplyHead> {
        let Head { status, framing, .. } = parse(head).ok()??;
        let body_bytes = match framing {
            Framing::Length(bytes) => Some(bytes),
            Framing::Chunked | Framing::UntilClose => None,
        };
        Some(ReplyHead { status, body_bytes, is_chunked: framing == Framing::Chunked })
    }
}

/// What a head says; none if it is not all there.
fn parse(input: &[u8]) -> Result<Option<Head>, ()> {
    let mut headers = [EMPTY_HEADER; HEADERS_MAX];
    let mut response = Response::new(&mut headers);
    let Status::Complete(bytes) = response.parse(input).map_err(|_| ())? else { return Ok(None) };
    let status = response.code.ok_or(())?;
    // 101 gives the connection to another protocol, which was not asked for.
    if !(100..600).contains(&status) || status == 101 {
        return Err(());
    }
    let is_http_10 = response.version == Some(0);
    let mut keep = !is_http_10;
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
                    keep = false;
                } else if word.eq_ignore_ascii_case(b"keep-alive") && is_http_10 {
                    keep = true;
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
    keep &= framing != Framing::UntilClose;
    Ok(Some(Head { bytes, status, keep, is_http_10, framing }))
}

/// A number of digits only: no sign, no space, nothing that wraps.
fn whole_number(value: &[u8]) -> Result<u64, ()> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(());
    }
    std::str::from_utf8(value).ok().and_then(|value| value.parse().ok()).ok_or(())
}

/// Where in a chunked body we are.
#[derive(Clone, Copy, Debug)]
enum Chunked {
    /// In the digits of a chunk's size.
    Size { size: u64, digits: u8 },
    /// Behind them, up to the line's end.
    Extension { size: u64 },
    /// Behind the carriage return of that line.
    SizeEnd { size: u64 },
    /// In the data.
    Data { left: u64 },
    /// Behind the data.
    DataEnd,
    /// Behind the carriage return that ends the data.
    DataEndFeed,
    /// At the beginning of a trailer line, or of the empty line that ends everything.
    Trailer,
    /// Within a trailer line.
    TrailerLine,
    /// Behind the carriage return of the empty line.
    Last,
}

impl Chunked {
    /// Takes bytes: how many, and whether the body ends with them.
    fn take(&mut self, input: &[u8]) -> Result<(usize, bool), ()> {
        let mut at = 0;
        while at < input.len() {
            if let Chunked::Data { left } = self {
                let taken = (input.len() - at).min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                at += taken;
                if *left == 0 {
                    *self = Chunked::DataEnd;
                }
                continue;
            }
            let byte = input[at];
            at += 1;
            match self.after(byte)? {
                Some(next) => *self = next,
                None => return Ok((at, true)),
            }
        }
        Ok((at, false))
    }

    /// Where a byte that is no data leads to; none is the end.
    fn after(self, byte: u8) -> Result<Option<Chunked>, ()> {
        let size_ends =
            |size| if size == 0 { Chunked::Trailer } else { Chunked::Data { left: size } };
        Ok(Some(match (self, byte) {
            (Chunked::Size { size, digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                // Sixteen digits are all that a number of 64 bits has.
                if digits == 16 {
                    return Err(());
                }
                Chunked::Size { size: size << 4 | digit, digits: digits + 1 }
            }
            (Chunked::Size { digits: 0, .. }, _) => return Err(()),
            (Chunked::Size { size, .. } | Chunked::Extension { size }, b'\r') => {
                Chunked::SizeEnd { size }
            }
            (
                Chunked::Size { size, .. }
                | Chunked::SizeEnd { size }
                | Chunked::Extension { size },
                b'\n',
            ) => size_ends(size),
            (Chunked::Size { size, .. }, b';' | b' ' | b'\t')
            | (Chunked::Extension { size }, _) => Chunked::Extension { size },
            (Chunked::DataEnd, b'\r') => Chunked::DataEndFeed,
            (Chunked::DataEnd | Chunked::DataEndFeed, b'\n') => {
                Chunked::Size { size: 0, digits: 0 }
            }
            (Chunked::Trailer, b'\r') => Chunked::Last,
            (Chunked::Trailer | Chunked::Last, b'\n') => return Ok(None),
            (Chunked::TrailerLine, b'\n') => Chunked::Trailer,
            (Chunked::Trailer | Chunked::TrailerLine, _) => Chunked::TrailerLine,
            _ => return Err(()),
        }))
    }
}

#[cfg(test)]
mod tests;
