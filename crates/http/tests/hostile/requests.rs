//! What hostile and clumsy clients send: requests made of right and wrong pieces, then damaged.

use proptest::collection::vec;
use proptest::prelude::*;
use std::fmt;

/// Bytes to send, and where they are cut into pieces.
#[derive(Clone)]
pub struct Input {
    pub bytes: Vec<u8>,
    cuts: Vec<u16>,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces: Vec<String> =
            self.pieces().iter().map(|piece| piece.escape_ascii().to_string()).collect();
        write!(f, "{pieces:?}")
    }
}

impl Input {
    /// Requests without a fault.
    pub fn plain() -> Input {
        Input { bytes: b"GET /small.txt HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(), cuts: Vec::new() }
    }

    /// The bytes as they arrive: in pieces.
    pub fn pieces(&self) -> Vec<&[u8]> {
        let mut cuts: Vec<usize> =
            self.cuts.iter().map(|&cut| cut as usize % (self.bytes.len() + 1)).collect();
        cuts.extend([0, self.bytes.len()]);
        cuts.sort_unstable();
        cuts.dedup();
        cuts.windows(2).map(|ends| &self.bytes[ends[0]..ends[1]]).collect()
    }
}

const METHODS: [&str; 12] = [
    "GET ", "GET ", "GET ", "GET ", "HEAD ", "POST ", "OPTIONS ", "TRACE ", "get ", "", "G\0T ",
    "GET\t",
];

const TARGETS: [&str; 36] = [
    "/",
    "/small.txt",
    "/small.txt",
    "/large.bin",
    "/large.bin",
    "/empty",
    "/sub",
    "/sub/",
    "/sub/leaf.txt",
    "/missing",
    "/link-out",
    "/link-directory/secret",
    "/loop",
    "/../secret",
    "/%2e%2e/secret",
    "/..%2fsecret",
    "/sub/../../secret",
    "/%",
    "/%zz",
    "/%00",
    "/small.txt%00",
    "//small.txt",
    "/./small.txt",
    "/sub/../small.txt",
    "small.txt",
    "http://x/small.txt",
    "http://x",
    "http:///",
    "*",
    "/small.txt?q=%00",
    "/small.txt#f",
    "/\u{fc}",
    "/a b",
    "",
    "/%73mall.txt",
    "/sub%2fleaf.txt",
];

const VERSIONS: [&str; 12] = [
    " HTTP/1.1\r\n",
    " HTTP/1.1\r\n",
    " HTTP/1.1\r\n",
    " HTTP/1.1\r\n",
    " HTTP/1.0\r\n",
    " HTTP/1.1\n",
    " HTTP/2.0\r\n",
    " HTTP/0.9\r\n",
    " HTTP/1.9\r\n",
    " HTTQ/1.1\r\n",
    "\r\n",
    " HTTP/1.1\r",
];

const FIELDS: [&str; 50] = [
    "Host: x",
    "Host: x",
    "Host: x",
    "Host: x",
    "Host: y",
    "Host:",
    "Host : x",
    "host: a/b",
    "Connection: close",
    "Connection: keep-alive",
    "Connection: upgrade, close",
    "Range: bytes=0-3",
    "Range: bytes=-5",
    "Range: bytes=5-",
    "Range: bytes=99999999-",
    "Range: bytes=0-1,3-4,-2",
    "Range: bytes=0-,0-,0-",
    "Range: bytes=9-3",
    "Range: lines=1-2",
    "Range: bytes=",
    "Range: bytes=18446744073709551615-18446744073709551616",
    "Range: bytes=-0",
    "If-None-Match: *",
    "If-None-Match: \"a\", W/\"b\"",
    "If-None-Match: \"",
    "If-Match: *",
    "If-Match: \"a\"",
    "If-Modified-Since: Thu, 29 Feb 2024 12:00:00 GMT",
    "If-Modified-Since: Thu, 99 Foo 9999 99:99:99 GMT",
    "If-Unmodified-Since: yesterday",
    "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT",
    "If-Range: \"a\"",
    "If-Range: Thu, 29 Feb 2024 12:00:00 GMT",
    "Content-Length: 0",
    "Content-Length: 5",
    "Content-Length: 5, 5",
    "Content-Length: -1",
    "Content-Length: 99999999999999999999",
    "Content-Length: 2000000",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding: identity",
    "Expect: 100-continue",
    "Expect: miracles",
    " folded",
    ": no name",
    "X-\u{fc}: y",
    "X: \0",
    "X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "Upgrade: h2c",
];

const BODIES: [&str; 10] = [
    "",
    "",
    "",
    "",
    "hello",
    "5\r\nhello\r\n0\r\n\r\n",
    "0\r\n\r\n",
    "ffffffffffffffff\r\n",
    "zz\r\n",
    "5;x=y\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
];

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    (0..texts.len()).prop_map(|index| texts[index])
}

/// One request, right or wrong.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let fields = vec(0..FIELDS.len(), 0..5);
    let first = (one_of(&METHODS), one_of(&TARGETS), one_of(&VERSIONS));
    (first, fields, one_of(&BODIES), 0..20_u8).prop_map(|(first, fields, body, end)| {
        let mut bytes = [first.0, first.1, first.2].concat().into_bytes();
        for field in fields {
            bytes.extend_from_slice(FIELDS[field].as_bytes());
            bytes.extend_from_slice(if end == 1 { b"\n" } else { b"\r\n" });
        }
        // Most have a host, as most clients send one.
        if end > 3 {
            bytes.extend_from_slice(b"Host: x\r\n");
        }
        bytes.extend_from_slice(if end == 2 { b"" } else { b"\r\n" });
        bytes.extend_from_slice(body.as_bytes());
        bytes
    })
}

/// A change of some bytes.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Replace(u16, u8),
    Insert(u16, u8),
    Remove(u16, u8),
    Repeat(u16, u8),
    Flip(u16, u8),
    Cut(u16),
}

fn damage() -> impl Strategy<Value = Damage> {
    (0..12_u8, any::<u16>(), any::<u8>()).prop_map(|(kind, at, byte)| match kind {
        0 | 1 => Damage::Replace(at, byte),
        2 | 3 => Damage::Insert(at, byte),
        4 | 5 => Damage::Remove(at, byte % 16),
        6 | 7 => Damage::Repeat(at, byte),
        8..=10 => Damage::Flip(at, byte % 8),
        _ => Damage::Cut(at),
    })
}

fn apply(bytes: &mut Vec<u8>, damage: Damage) {
    let position = |at: u16| at as usize % (bytes.len() + 1);
    match damage {
        Damage::Insert(at, byte) => bytes.insert(position(at), byte),
        Damage::Cut(at) => bytes.truncate(position(at)),
        Damage::Remove(at, count) => {
            let at = position(at);
            bytes.drain(at..(at + count as usize).min(bytes.len()));
        }
        Damage::Repeat(at, count) => {
            let at = position(at);
            let again = bytes[at..(at + count as usize).min(bytes.len())].to_vec();
            bytes.splice(at..at, again);
        }
        Damage::Replace(at, _) | Damage::Flip(at, _) if position(at) == bytes.len() => {}
        Damage::Replace(at, byte) => {
            let at = position(at);
            bytes[at] = byte;
        }
        Damage::Flip(at, bit) => {
            let at = position(at);
            bytes[at] ^= 1 << bit;
        }
    }
}

/// Several requests, perhaps damaged, in pieces.
pub fn input() -> impl Strategy<Value = Input> {
    (vec(request(), 1..4), vec(damage(), 0..4), vec(any::<u16>(), 0..4)).prop_map(
        |(requests, damages, cuts)| {
            let mut bytes = requests.concat();
            for damage in damages {
                apply(&mut bytes, damage);
            }
            // What is no request is refused at the end of a line at the latest, so there has to be one.
            bytes.push(b'\n');
            Input { bytes, cuts }
        },
    )
}
