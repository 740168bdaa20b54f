//! The head of a request: what it says, or why it is refused.
//!
//! The syntax is httparse's affair. What RFC 9112 asks beyond it is decided here, and in doubt a
//! request is refused: two parties that read one request in two ways are how requests are smuggled.

pub(crate) mod conditional;
pub(crate) mod range;
pub(crate) mod target;

use std::mem::MaybeUninit;

use crate::response::status::Status;

/// Bytes of a head, at most; beyond it, 431.
pub(crate) const HEAD_BYTES: usize = 16 * 1024;

/// Bytes of a head's first line, at most; beyond it, 414. nginx has the same bound.
pub(crate) const LINE_BYTES: usize = 8 * 1024;

/// Lines of a head after the first one, at most; beyond it, 431.
const HEADERS: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Method {
    #[default]
    Get,
    Head,
    Other,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Length {
    #[default]
    None,
    Bytes(u64),
    Chunked,
}

/// What the head of a request says. Borrows from the bytes that came.
///
/// Of a condition that comes on several lines the first line counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    pub method: Method,
    /// The target as it came.
    pub target: &'a [u8],
    /// The whole first line as it came, for a log.
    pub line: &'a [u8],
    /// It came as HTTP/1.0, whose connections end unless both sides say otherwise.
    pub old: bool,
    /// The connection may be kept, as far as the client is concerned.
    pub keep_alive: bool,
    pub body: Length,
    pub expects_continue: bool,
    pub range: Option<&'a [u8]>,
    pub if_range: Option<&'a [u8]>,
    pub if_none_match: Option<&'a [u8]>,
    pub if_modified_since: Option<&'a [u8]>,
    pub if_match: Option<&'a [u8]>,
    pub if_unmodified_since: Option<&'a [u8]>,
}

impl Request<'_> {
    /// Whether it asks for all of something, whatever the client has of it already.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.range.is_none()
            && self.if_none_match.is_none()
            && self.if_modified_since.is_none()
            && self.if_match.is_none()
            && self.if_unmodified_since.is_none()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    Partial,
    /// A head, and the number of bytes that it took.
    Whole {
        request: Request<'a>,
        used: usize,
    },
    /// No request: to be refused, and the connection closed.
    Bad(Status),
}

/// Reads the head at the beginning of `bytes`.
///
/// However the bytes of a head arrive, the answer is the same in the end: once `Bad`, more bytes do
/// not fix it.
pub(crate) fn parse(bytes: &[u8]) -> Parsed<'_> {
    if let Some(status) = too_long(bytes) {
        return Parsed::Bad(status);
    }
    let within = &bytes[..bytes.len().min(HEAD_BYTES)];
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS];
    let mut head = httparse::Request::new(&mut []);
    match head.parse_with_uninit_headers(within, &mut headers) {
        Ok(httparse::Status::Complete(used)) => {
            let old = head.version == Some(0);
            let (method, target) = (head.method.unwrap_or(""), head.path.unwrap_or(""));
            finish(within, method, target, old, head.headers, used)
        }
        Ok(httparse::Status::Partial) if bytes.len() >= HEAD_BYTES => {
            Parsed::Bad(Status::HeadTooLarge)
        }
        Ok(httparse::Status::Partial) => Parsed::Partial,
        Err(httparse::Error::TooManyHeaders) => Parsed::Bad(Status::HeadTooLarge),
        Err(httparse::Error::Version) => other_version(within),
        Err(_) => Parsed::Bad(Status::BadRequest),
    }
}

/// Whether a head is refused for its length alone, whatever it says.
fn too_long(bytes: &[u8]) -> Option<Status> {
    if bytes.len() <= LINE_BYTES {
        return None;
    }
    let line = bytes.iter().position(|byte| !is_newline(*byte)).unwrap_or(0);
    let limit = bytes.len().min(line + LINE_BYTES);
    // A line that has not ended within the limit won't get shorter.
    (limit == line + LINE_BYTES && !bytes[line..limit].contains(&b'\n'))
        .then_some(Status::UriTooLong)
}

/// A head of a version other than 1.0 and 1.1, which is all that httparse knows.
///
/// A later 1.x is to be treated like the last 1.x that one knows (RFC 9110, 2.5); any other number is
/// another protocol, such as the preface of HTTP/2; and what bears no number is HTTP/0.9 or worse.
fn other_version(bytes: &[u8]) -> Parsed<'_> {
    const NAME: &[u8] = b"HTTP/";
    let start = bytes.iter().position(|byte| !is_newline(*byte)).unwrap_or(0);
    let mut words = bytes[start..].splitn(3, |byte| *byte == b' ');
    let (Some(method), Some(target), Some(rest)) = (words.next(), words.next(), words.next())
    else {
        return Parsed::Bad(Status::BadRequest);
    };
    let shared = rest.len().min(NAME.len());
    if rest[..shared] != NAME[..shared] {
        return Parsed::Bad(Status::BadRequest);
    }
    let headers_at = match &rest[shared..] {
        []
        | [b'1']
        | [b'1', b'.']
        | [b'1', b'.', b'2'..=b'9']
        | [b'1', b'.', b'2'..=b'9', b'\r'] => {
            return Parsed::Partial;
        }
        [b'1', b'.', b'2'..=b'9', b'\r', b'\n', ..] => shared + 5,
        [b'1', b'.', b'2'..=b'9', b'\n', ..] => shared + 4,
        [b'0' | b'2'..=b'9', ..] => return Parsed::Bad(Status::VersionNotSupported),
        _ => return Parsed::Bad(Status::BadRequest),
    };
    let (Ok(method), Ok(target)) = (str::from_utf8(method), str::from_utf8(target)) else {
        return Parsed::Bad(Status::BadRequest);
    };
    let before = bytes.len() - rest.len() + headers_at;
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    match httparse::parse_headers(&bytes[before..], &mut headers) {
        Ok(httparse::Status::Complete((used, headers))) => {
            finish(bytes, method, target, false, headers, before + used)
        }
        Ok(httparse::Status::Partial) if bytes.len() >= HEAD_BYTES => {
            Parsed::Bad(Status::HeadTooLarge)
        }
        Ok(httparse::Status::Partial) => Parsed::Partial,
        Err(httparse::Error::TooManyHeaders) => Parsed::Bad(Status::HeadTooLarge),
        Err(_) => Parsed::Bad(Status::BadRequest),
    }
}

/// Makes a request of what was read, or refuses it for what its lines say together.
fn finish<'a>(
    bytes: &'a [u8],
    method: &'a str,
    target: &'a str,
    old: bool,
    headers: &[httparse::Header<'a>],
    used: usize,
) -> Parsed<'a> {
    let start = bytes.iter().position(|byte| !is_newline(*byte)).unwrap_or(0);
    let line_bytes = method.len() + 1 + target.len() + 1 + b"HTTP/1.1".len();
    let mut request = Request {
        method: match method {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            _ => Method::Other,
        },
        target: target.as_bytes(),
        line: &bytes[start..start + line_bytes],
        old,
        ..Request::default()
    };
    let mut framing = Framing::default();
    for header in headers {
        if let Err(status) = framing.take(&mut request, header) {
            return Parsed::Bad(status);
        }
    }
    match framing.settle(&mut request) {
        Ok(()) => Parsed::Whole { request, used },
        Err(status) => Parsed::Bad(status),
    }
}

/// What the lines say of the connection and of the body, until all of them are read.
#[derive(Default)]
struct Framing {
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
    closes: bool,
    keeps: bool,
}

impl Framing {
    /// Notes one line; lengths first, since most lines are none of ours.
    fn take<'a>(
        &mut self,
        request: &mut Request<'a>,
        header: &httparse::Header<'a>,
    ) -> Result<(), Status> {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let value = header.value;
        match header.name.len() {
            4 if is("host") => return self.host(value),
            5 if is("range") => note(&mut request.range, value),
            6 if is("expect") => return expect(request, value),
            8 if is("if-match") => note(&mut request.if_match, value),
            8 if is("if-range") => note(&mut request.if_range, value),
            10 if is("connection") => self.connection(value),
            13 if is("if-none-match") => note(&mut request.if_none_match, value),
            14 if is("content-length") => return self.content_length(value),
            17 if is("if-modified-since") => note(&mut request.if_modified_since, value),
            17 if is("transfer-encoding") => return self.transfer_encoding(value),
            19 if is("if-unmodified-since") => note(&mut request.if_unmodified_since, value),
            _ => return Ok(()),
        }
        Ok(())
    }

    /// A name of a host, and perhaps a port: one, and of letters that stand in such names.
    fn host(&mut self, value: &[u8]) -> Result<(), Status> {
        let fits =
            |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]%".contains(byte);
        self.hosts += 1;
        if self.hosts == 1 && !value.is_empty() && value.iter().all(fits) {
            return Ok(());
        }
        Err(Status::BadRequest)
    }

    fn connection(&mut self, value: &[u8]) {
        for word in value.split(|byte| *byte == b',') {
            let word = word.trim_ascii();
            self.closes |= word.eq_ignore_ascii_case(b"close");
            self.keeps |= word.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// One number, once: whoever sends two may mean either.
    fn content_length(&mut self, value: &[u8]) -> Result<(), Status> {
        let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        let length = str::from_utf8(value).ok().and_then(|value| value.parse().ok());
        if !digits || length.is_none() || self.length.is_some() {
            return Err(Status::BadRequest);
        }
        self.length = length;
        Ok(())
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), Status> {
        if self.chunked {
            return Err(Status::BadRequest);
        }
        self.chunked = value.eq_ignore_ascii_case(b"chunked");
        if self.chunked { Ok(()) } else { Err(Status::NotImplemented) }
    }

    /// What all lines together come to.
    fn settle(self, request: &mut Request<'_>) -> Result<(), Status> {
        let unnamed = self.hosts == 0 && !request.old;
        let ambiguous = self.chunked && (self.length.is_some() || request.old);
        if unnamed || ambiguous {
            return Err(Status::BadRequest);
        }
        request.keep_alive = !self.closes && (self.keeps || !request.old);
        request.body = match self.length {
            _ if self.chunked => Length::Chunked,
            None | Some(0) => Length::None,
            Some(bytes) => Length::Bytes(bytes),
        };
        request.expects_continue &= !request.old;
        Ok(())
    }
}

/// Keeps the first of several lines of one name.
fn note<'a>(field: &mut Option<&'a [u8]>, value: &'a [u8]) {
    field.get_or_insert(value);
}

/// There is one thing that may be expected.
fn expect(request: &mut Request<'_>, value: &[u8]) -> Result<(), Status> {
    request.expects_continue = value.eq_ignore_ascii_case(b"100-continue");
    if request.expects_continue { Ok(()) } else { Err(Status::ExpectationFailed) }
}

fn is_newline(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn status(head: &str) -> Option<u16> {
        match parse(head.as_bytes()) {
            Parsed::Bad(status) => Some(status.code()),
            Parsed::Whole { .. } => None,
            Parsed::Partial => panic!("not whole: {head:?}"),
        }
    }

    fn whole(head: &[u8]) -> Request<'_> {
        match parse(head) {
            Parsed::Whole { request, used } if used == head.len() => request,
            state => panic!("{:?}: {state:?}", String::from_utf8_lossy(head)),
        }
    }

    #[test]
    fn a_head_says_what_is_wanted() {
        let head = b"GET /a?b HTTP/1.1\r\nhOST: example.org:80\r\nRange: bytes=0-1\r\nIf-Range: \"a\"\r\n\
            If-None-Match:\t\"b\" \r\nIf-Modified-Since: c\r\nIf-Match: d\r\nIf-Unmodified-Since: e\r\n\
            Content-Length: 007\r\nExpect: 100-Continue\r\nX-Other: ignored\r\n\r\n";
        assert_eq!(
            whole(head),
            Request {
                method: Method::Get,
                target: b"/a?b",
                line: b"GET /a?b HTTP/1.1",
                old: false,
                keep_alive: true,
                body: Length::Bytes(7),
                expects_continue: true,
                range: Some(b"bytes=0-1"),
                if_range: Some(b"\"a\""),
                if_none_match: Some(b"\"b\""),
                if_modified_since: Some(b"c"),
                if_match: Some(b"d"),
                if_unmodified_since: Some(b"e"),
            }
        );
    }

    #[test]
    fn what_follows_a_head_is_not_looked_at() {
        let bytes = b"\r\n\nHEAD / HTTP/1.1\nHost: a\n\nGET";
        let Parsed::Whole { request, used } = parse(bytes) else { panic!() };
        assert_eq!((request.method, used), (Method::Head, bytes.len() - 3));
        assert_eq!(request.line, b"HEAD / HTTP/1.1");
        assert!(request.is_plain());
    }

    #[test]
    fn connections_are_kept_as_version_and_line_say() {
        let table = [
            ("1.1", "", true),
            ("1.1", "Connection: close\r\n", false),
            ("1.1", "Connection: foo, CLOSE ,bar\r\n", false),
            ("1.1", "Connection: keep-alive\r\nConnection: close\r\n", false),
            ("1.1", "Connection: closed\r\n", true),
            ("1.0", "", false),
            ("1.0", "Connection: Keep-Alive\r\n", true),
            ("1.0", "Connection: keep-alive, close\r\n", false),
            ("1.7", "", true),
        ];
        for (version, lines, kept) in table {
            let head = format!("GET / HTTP/{version}\r\nHost: a\r\n{lines}\r\n");
            let request = whole(head.as_bytes());
            assert_eq!((request.keep_alive, request.old), (kept, version == "1.0"), "{head}");
        }
    }

    #[test]
    fn bodies_are_measured() {
        let table = [
            ("", Length::None),
            ("Content-Length: 0\r\n", Length::None),
            ("Content-Length: 18446744073709551615\r\n", Length::Bytes(u64::MAX)),
            ("Transfer-Encoding: Chunked\r\n", Length::Chunked),
        ];
        for (lines, body) in table {
            let head = format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n");
            assert_eq!(whole(head.as_bytes()).body, body, "{head}");
        }
    }

    #[test]
    fn versions_are_distinguished() {
        let table = [
            ("GET / HTTP/1.0\r\n\r\n", None),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", None),
            ("GET / HTTP/1.2\r\nHost: a\r\n\r\n", None),
            ("GET / HTTP/1.9\nHost: a\n\n", None),
            ("GET / HTTP/1.2\r\n\r\n", Some(400)),
            ("GET / HTTP/1.10\r\nHost: a\r\n\r\n", Some(400)),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", Some(505)),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Some(505)),
            ("GET / HTTP/0.9\r\n\r\n", Some(505)),
            ("GET / HTTP/3\r\n\r\n", Some(505)),
            ("GET / HTTP/x\r\n\r\n", Some(400)),
            ("GET / http/1.1\r\nHost: a\r\n\r\n", Some(400)),
            ("GET / FOO/1.1\r\nHost: a\r\n\r\n", Some(400)),
            // HTTP/0.9 has no version, no head and no length: nothing of today speaks it.
            ("GET /\r\n", Some(400)),
        ];
        for (head, expected) in table {
            assert_eq!(status(head), expected, "{head:?}");
        }
    }

    #[test]
    fn lines_that_can_be_read_in_two_ways_are_refused() {
        let table = [
            ("", None),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", Some(400)),
            ("Content-Length: 5\r\nContent-Length: 5\r\n", Some(400)),
            ("Content-Length: 5, 5\r\n", Some(400)),
            ("Content-Length: +5\r\n", Some(400)),
            ("Content-Length: -5\r\n", Some(400)),
            ("Content-Length: 0x5\r\n", Some(400)),
            ("Content-Length:\r\n", Some(400)),
            ("Content-Length: 18446744073709551616\r\n", Some(400)),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", Some(400)),
            ("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", Some(400)),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", Some(400)),
            ("Transfer-Encoding: gzip, chunked\r\n", Some(501)),
            ("Transfer-Encoding: xchunked\r\n", Some(501)),
            ("Transfer-Encoding: identity\r\n", Some(501)),
            ("Expect: 100-continue\r\n", None),
            ("Expect: 200-ok\r\n", Some(417)),
            ("Host: b\r\n", Some(400)),
            ("Bad name: b\r\n", Some(400)),
            ("Name : b\r\n", Some(400)),
            (": b\r\n", Some(400)),
            ("Name\r\n", Some(400)),
            ("N\u{e4}me: b\r\n", Some(400)),
            ("Name: a\r\n folded\r\n", Some(400)),
            ("Name: a\0b\r\n", Some(400)),
            ("Name: a\rb\r\n", Some(400)),
            ("Name: \u{e4}\r\n", None),
        ];
        for (lines, expected) in table {
            let head = format!("GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n");
            assert_eq!(status(&head), expected, "{lines:?}");
        }
        let chunked = "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(status(chunked), Some(400));
    }

    #[test]
    fn hosts_are_names() {
        let table = [
            ("Host: example.org:8080\r\n", None),
            ("Host: [::1]:80\r\n", None),
            ("Host: a_b.c\r\n", None),
            ("", Some(400)),
            ("Host:\r\n", Some(400)),
            ("Host: a/b\r\n", Some(400)),
            ("Host: a b\r\n", Some(400)),
            ("Host: a@b\r\n", Some(400)),
            ("Host: a\r\nHost: a\r\n", Some(400)),
        ];
        for (line, expected) in table {
            assert_eq!(status(&format!("GET / HTTP/1.1\r\n{line}\r\n")), expected, "{line:?}");
        }
        assert_eq!(status("GET / HTTP/1.0\r\n\r\n"), None);
        assert_eq!(status("GET / HTTP/1.0\r\nHost: a/b\r\n\r\n"), Some(400));
    }

    #[test]
    fn first_lines_are_of_three_words() {
        let table = [
            "GET  / HTTP/1.1\r\n",
            "GET /  HTTP/1.1\r\n",
            "GET / HTTP/1.1 \r\n",
            " GET / HTTP/1.1\r\n",
            "GET\t/ HTTP/1.1\r\n",
            "G@T / HTTP/1.1\r\n",
            "GET /a b HTTP/1.1\r\n",
            "GET /\u{1} HTTP/1.1\r\n",
        ];
        for line in table {
            assert_eq!(status(&format!("{line}Host: a\r\n\r\n")), Some(400), "{line:?}");
        }
    }

    #[test]
    fn heads_are_bounded() {
        let with = |target: usize, lines: usize, value: usize| {
            let lines = format!("X: {}\r\n", "v".repeat(value)).repeat(lines - 1);
            format!("GET /{} HTTP/1.1\r\nHost: a\r\n{lines}\r\n", "t".repeat(target))
        };
        assert_eq!(status(&with(LINE_BYTES - 20, 1, 0)), None);
        assert_eq!(status(&with(LINE_BYTES, 1, 0)), Some(414));
        assert_eq!(status(&with(1, HEADERS, 1)), None);
        assert_eq!(status(&with(1, HEADERS + 1, 1)), Some(431));
        assert_eq!(status(&with(1, 3, HEAD_BYTES / 2 - 40)), None);
        assert_eq!(status(&with(1, 3, HEAD_BYTES / 2)), Some(431));
        // Without any end.
        assert_eq!(parse(&[b'a'; LINE_BYTES]), Parsed::Partial);
        assert_eq!(parse(&[b'a'; LINE_BYTES + 1]), Parsed::Bad(Status::UriTooLong));
        assert_eq!(parse(&[b'\n'; HEAD_BYTES - 1]), Parsed::Partial);
        assert_eq!(parse(&[b'\n'; HEAD_BYTES]), Parsed::Bad(Status::HeadTooLarge));
    }

    /// Heads that are right, and heads that are nearly so.
    fn heads() -> impl Strategy<Value = Vec<u8>> {
        let word = |words: &'static [&'static str]| prop::sample::select(words);
        let first = (
            word(&["GET", "HEAD", "POST", "", "G T"]),
            word(&["/", "/a%20b?c", "*", "http://a/", "", "/\u{e4}"]),
            word(&["HTTP/1.1", "HTTP/1.0", "HTTP/1.3", "HTTP/2.0", "HTTP/1.", "HTTP", ""]),
            word(&["\r\n", "\n", "\r"]),
        );
        let line = word(&[
            "Host: a\r\n",
            "Host: b\n",
            "Connection: close\r\n",
            "Content-Length: 3\r\n",
            "A:\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Range: bytes=0-\r\n",
            "Bad\r\n",
            " B: c\r\n",
            "C: \r",
        ]);
        let head = (first, prop::collection::vec(line, 0..5), word(&["\r\n", "\n", ""])).prop_map(
            |((method, target, version, end), lines, last)| {
                format!("{method} {target} {version}{end}{}{last}", lines.concat()).into_bytes()
            },
        );
        (head, any::<prop::sample::Index>(), prop::option::weighted(0.3, any::<u8>())).prop_map(
            |(mut head, at, replacement)| {
                if let Some(replacement) = replacement {
                    let at = at.index(head.len());
                    head[at] = replacement;
                }
                head
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn bytes_of_all_kinds_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Parsed::Whole { used, .. } = parse(&bytes) {
                prop_assert!(used <= bytes.len());
            }
        }

        #[test]
        fn however_a_head_arrives_it_means_the_same(head in heads()) {
            let mut settled = None;
            for length in 0..=head.len() {
                let parsed = parse(&head[..length]);
                match settled {
                    None if parsed != Parsed::Partial => settled = Some(parsed),
                    None => {}
                    Some(before) => prop_assert_eq!(parsed, before, "at {} of {:?}", length, head),
                }
                if let Parsed::Whole { used, .. } = parsed {
                    prop_assert!(used <= length);
                }
            }
        }
    }
}
