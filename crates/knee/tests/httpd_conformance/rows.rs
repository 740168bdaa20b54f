//! What both servers are asked.

/// A request, or several in a row, and how ours may differ.
pub struct Row {
    pub name: &'static str,
    /// What is sent, when filled in: `{x}` ends a first line and names the host, and `{plain}`
    /// asks for `/plain.txt` so.
    pub send: &'static str,
    /// Whether a reply goes to a HEAD, for each that is expected.
    pub heads: &'static [bool],
    pub differs: Option<Differs>,
}

/// A difference on purpose.
pub struct Differs {
    pub why: &'static str,
    /// What is different, and what nginx and ours say. A field that is not there is empty.
    pub what: &'static [Difference],
}

/// What is different, nginx's, and ours.
pub type Difference = (&'static str, &'static str, &'static str);

/// A row that both answer alike.
const fn same(name: &'static str, send: &'static str) -> Row {
    Row { name, send, heads: &[false], differs: None }
}

impl Row {
    const fn with_heads(self, heads: &'static [bool]) -> Row {
        Row { heads, ..self }
    }

    const fn but(self, why: &'static str, what: &'static [Difference]) -> Row {
        Row { differs: Some(Differs { why, what }), ..self }
    }
}

pub const ROWS: &[Row] = &[
    // Plain requests, and types.
    same("index", "GET /{x}\r\n"),
    same("text", "{plain}\r\n"),
    same("bytes", "GET /data.bin{x}\r\n"),
    same("an empty file", "GET /empty.txt{x}\r\n"),
    same("css", "GET /style.css{x}\r\n"),
    same("script", "GET /code.js{x}\r\n").but(
        "RFC 9239 has one type for scripts",
        &[("Content-Type", "application/javascript", "text/javascript")],
    ),
    same("png", "GET /picture.png{x}\r\n"),
    same("svg", "GET /picture.svg{x}\r\n"),
    same("jpg", "GET /picture.jpg{x}\r\n"),
    same("json", "GET /data.json{x}\r\n"),
    same("xml", "GET /data.xml{x}\r\n"),
    same("mp4", "GET /movie.mp4{x}\r\n"),
    same("no extension", "GET /none{x}\r\n"),
    same("an unknown extension", "GET /odd.unknown-extension{x}\r\n"),
    same("a dot file", "GET /.hidden{x}\r\n"),
    same("a query is no part of the path", "GET /plain.txt?a=b&c{x}\r\n"),
    same("an empty query", "GET /plain.txt?{x}\r\n"),
    // HEAD.
    same("head", "HEAD /data.bin{x}\r\n").with_heads(&[true]),
    same("head of nothing", "HEAD /missing{x}\r\n").with_heads(&[true]),
    same("head with a range", "HEAD /data.bin{x}Range: bytes=0-9\r\n\r\n").with_heads(&[true]).but(
        "a range is defined for GET alone (RFC 9110, 14.2)",
        &[
            ("Accept-Ranges", "", "bytes"),
            ("Content-Length", "10", "10000"),
            ("Content-Range", "bytes 0-9/10000", ""),
            ("status", "206", "200"),
        ],
    ),
    same("head of a directory", "HEAD /sub{x}\r\n").with_heads(&[true]),
    // Percent-encodings.
    same("an encoded letter", "GET /pl%61in.txt{x}\r\n"),
    same("an encoded space", "GET /with%20space.txt{x}\r\n"),
    same("a plus is a plus", "GET /plus+plus.txt{x}\r\n"),
    same("an encoded percent", "GET /100%25.txt{x}\r\n"),
    same("an encoded question mark", "GET /q%3F.txt{x}\r\n"),
    same("umlauts", "GET /%C3%BCml%c3%a4ut.txt{x}\r\n"),
    same("an encoded slash", "GET /sub%2Fdeep%2Fleaf.txt{x}\r\n"),
    same("a bad escape", "GET /plain%zz.txt{x}\r\n"),
    same("half an escape", "GET /plain.txt%2{x}\r\n"),
    same("an encoded zero", "GET /plain.txt%00.html{x}\r\n"),
    // Dots and slashes.
    same("a dot segment", "GET /./plain.txt{x}\r\n"),
    same("up and down", "GET /sub/../plain.txt{x}\r\n"),
    same("up and down, encoded", "GET /sub/%2e%2e/plain.txt{x}\r\n"),
    same("up from the root", "GET /../etc/passwd{x}\r\n"),
    same("up from the root, encoded", "GET /%2e%2e/%2e%2e/etc/passwd{x}\r\n"),
    same("up by an encoded slash", "GET /..%2f..%2fetc/passwd{x}\r\n"),
    same("double slashes", "GET //sub///deep//leaf.txt{x}\r\n"),
    same("three dots are a name", "GET /.../plain.txt{x}\r\n"),
    same("a dot at the end", "GET /sub/.{x}\r\n"),
    same("two dots at the end", "GET /sub/deep/..{x}\r\n"),
    // Folders.
    same("a directory without its slash", "GET /sub{x}\r\n"),
    same("its query goes along", "GET /sub?a=b{x}\r\n"),
    same("a directory with its slash", "GET /sub/{x}\r\n"),
    same("a directory without an index", "GET /bare/{x}\r\n"),
    same("the same without its slash", "GET /bare{x}\r\n"),
    same("a file with a slash", "GET /plain.txt/{x}\r\n"),
    same("a file as a directory", "GET /plain.txt/leaf{x}\r\n"),
    same("missing", "GET /missing.txt{x}\r\n"),
    same("missing in a directory that is missing", "GET /no/such/file{x}\r\n"),
    same("a long name", "GET /{long}{x}\r\n"),
    // Ranges.
    same("the first bytes", "GET /data.bin{x}Range: bytes=0-99\r\n\r\n"),
    same("one byte", "{plain}Range: bytes=3-3\r\n\r\n"),
    same("from a byte on", "GET /data.bin{x}Range: bytes=9990-\r\n\r\n"),
    same("the last bytes", "GET /data.bin{x}Range: bytes=-7\r\n\r\n"),
    same("more last bytes than there are", "{plain}Range: bytes=-99\r\n\r\n"),
    same("no last bytes", "{plain}Range: bytes=-0\r\n\r\n"),
    same("an end beyond the end", "{plain}Range: bytes=20-99\r\n\r\n"),
    same("all of it", "{plain}Range: bytes=0-\r\n\r\n"),
    same("unsatisfiable", "{plain}Range: bytes=26-\r\n\r\n"),
    same("far beyond", "{plain}Range: bytes=99999999999999999999-\r\n\r\n"),
    same("backwards", "{plain}Range: bytes=9-3\r\n\r\n"),
    same("of an empty file", "GET /empty.txt{x}Range: bytes=0-0\r\n\r\n"),
    same("another unit", "{plain}Range: lines=0-3\r\n\r\n"),
    same("the unit in capitals", "{plain}Range: BYTES=0-3\r\n\r\n"),
    same("no range at all", "{plain}Range: bytes=\r\n\r\n"),
    same("nonsense", "{plain}Range: bytes=a-b\r\n\r\n"),
    same("two ranges", "GET /data.bin{x}Range: bytes=0-9,100-109\r\n\r\n"),
    same("three, the last ones too", "{plain}Range: bytes=0-1, 4-5, -2\r\n\r\n"),
    same("out of order", "{plain}Range: bytes=20-21,3-4\r\n\r\n"),
    same("overlapping", "{plain}Range: bytes=0-9,5-14\r\n\r\n"),
    same("more than all together", "{plain}Range: bytes=0-,0-,0-\r\n\r\n"),
    same("one of two unsatisfiable", "{plain}Range: bytes=0-1,99-\r\n\r\n"),
    same("both unsatisfiable", "{plain}Range: bytes=88-,99-\r\n\r\n"),
    // Parameters.
    same("none match, right", "{plain}If-None-Match: {etag}\r\n\r\n"),
    same("none match, wrong", "{plain}If-None-Match: \"no\"\r\n\r\n"),
    same("none match, weak", "{plain}If-None-Match: W/{etag}\r\n\r\n"),
    same("none match, a list", "{plain}If-None-Match: \"a\", {etag}, \"b\"\r\n\r\n"),
    same("none match, any", "{plain}If-None-Match: *\r\n\r\n"),
    same("none match, any of nothing", "GET /missing{x}If-None-Match: *\r\n\r\n"),
    same("none match, head", "HEAD /plain.txt{x}If-None-Match: {etag}\r\n\r\n").with_heads(&[true]),
    same("modified since, same", "{plain}If-Modified-Since: {same}\r\n\r\n"),
    same("modified since, older", "{plain}If-Modified-Since: {older}\r\n\r\n"),
    same("modified since, newer", "{plain}If-Modified-Since: {newer}\r\n\r\n").but(
        "a date after the file's is no reason to send it (RFC 9110, 13.1.3)",
        &[
            ("Accept-Ranges", "bytes", ""),
            ("Content-Length", "26", ""),
            ("Content-Type", "text/plain", ""),
            ("body", "abcdefghijklmnopqrstuvwxyz", ""),
            ("status", "200", "304"),
        ],
    ),
    same("modified since, malformed", "{plain}If-Modified-Since: yesterday\r\n\r\n"),
    same(
        "modified since, an old form",
        "{plain}If-Modified-Since: Thursday, 29-Feb-24 12:00:00 GMT\r\n\r\n",
    ),
    same(
        "the tag outweighs the date",
        "{plain}If-None-Match: \"no\"\r\nIf-Modified-Since: {same}\r\n\r\n",
    ),
    same("match, right", "{plain}If-Match: {etag}\r\n\r\n"),
    same("match, wrong", "{plain}If-Match: \"no\"\r\n\r\n")
        .but("nginx says that it keeps the connection, and closes it", &[("goes on", "no", "yes")]),
    same("match, weak", "{plain}If-Match: W/{etag}\r\n\r\n")
        .but("nginx says that it keeps the connection, and closes it", &[("goes on", "no", "yes")]),
    same("match, any", "{plain}If-Match: *\r\n\r\n"),
    same("unmodified since, same", "{plain}If-Unmodified-Since: {same}\r\n\r\n"),
    same("unmodified since, older", "{plain}If-Unmodified-Since: {older}\r\n\r\n")
        .but("nginx says that it keeps the connection, and closes it", &[("goes on", "no", "yes")]),
    same("unmodified since, newer", "{plain}If-Unmodified-Since: {newer}\r\n\r\n"),
    same("range if the tag is right", "{plain}Range: bytes=0-3\r\nIf-Range: {etag}\r\n\r\n"),
    same("range if the tag is wrong", "{plain}Range: bytes=0-3\r\nIf-Range: \"no\"\r\n\r\n"),
    same("range if the tag is weak", "{plain}Range: bytes=0-3\r\nIf-Range: W/{etag}\r\n\r\n"),
    same("range if the date is the same", "{plain}Range: bytes=0-3\r\nIf-Range: {same}\r\n\r\n"),
    same("range if the date is older", "{plain}Range: bytes=0-3\r\nIf-Range: {older}\r\n\r\n"),
    same("range if the date is newer", "{plain}Range: bytes=0-3\r\nIf-Range: {newer}\r\n\r\n"),
    same(
        "a range of what was not modified",
        "{plain}Range: bytes=0-3\r\nIf-None-Match: {etag}\r\n\r\n",
    ),
    // Methods.
    same("post", "POST /plain.txt{x}Content-Length: 3\r\n\r\nabc")
        .but("a 405 has to say what is allowed (RFC 9110, 15.5.6)", &[("Allow", "", "GET, HEAD")]),
    same("put", "PUT /plain.txt{x}Content-Length: 0\r\n\r\n")
        .but("a 405 has to say what is allowed (RFC 9110, 15.5.6)", &[("Allow", "", "GET, HEAD")]),
    same("delete", "DELETE /plain.txt{x}\r\n")
        .but("a 405 has to say what is allowed (RFC 9110, 15.5.6)", &[("Allow", "", "GET, HEAD")]),
    same("options", "OPTIONS /{x}\r\n")
        .but("a 405 has to say what is allowed (RFC 9110, 15.5.6)", &[("Allow", "", "GET, HEAD")]),
    same("trace", "TRACE /{x}\r\n").but(
        "a 405 says what is allowed, and is no reason to close",
        &[("Allow", "", "GET, HEAD"), ("closes", "yes", "no"), ("goes on", "no", "yes")],
    ),
    same("connect", "CONNECT x:80{x}\r\n").but(
        "a method that is not allowed, like others",
        &[
            ("Allow", "", "GET, HEAD"),
            ("closes", "yes", "no"),
            ("goes on", "no", "yes"),
            ("status", "400", "405"),
        ],
    ),
    same("an unknown method", "BREW /plain.txt{x}\r\n")
        .but("a 405 has to say what is allowed (RFC 9110, 15.5.6)", &[("Allow", "", "GET, HEAD")]),
    same("a method in small letters", "get /plain.txt{x}\r\n").but(
        "methods differ by case, and this one is unknown",
        &[
            ("Allow", "", "GET, HEAD"),
            ("closes", "yes", "no"),
            ("goes on", "no", "yes"),
            ("status", "400", "405"),
        ],
    ),
    // Versions, hosts, what stays open.
    same("1.0", "GET /plain.txt HTTP/1.0\r\n\r\n"),
    same("1.0 kept", "GET /plain.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
    same("1.0 kept, in capitals", "GET /plain.txt HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"),
    same("1.0 missing, kept", "GET /missing HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
    same("1.1 closed", "{plain}Connection: close\r\n\r\n"),
    same("1.1 closed, among others", "{plain}Connection: upgrade, close\r\n\r\n"),
    same("1.1 missing, open", "GET /missing{x}\r\n"),
    same("1.1 kept aloud", "{plain}Connection: keep-alive\r\n\r\n"),
    same("1.2", "GET /plain.txt HTTP/1.2\r\nHost: x\r\n\r\n"),
    same("2.0", "GET /plain.txt HTTP/2.0\r\nHost: x\r\n\r\n"),
    same("9.9", "GET /plain.txt HTTP/9.9\r\nHost: x\r\n\r\n"),
    same("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .but("it is a version that is not spoken here", &[("status", "400", "505")]),
    same("no version that is one", "GET /plain.txt HTTQ/1.1\r\nHost: x\r\n\r\n"),
    same("without a host", "GET /plain.txt HTTP/1.1\r\n\r\n"),
    same("an empty host", "GET /plain.txt HTTP/1.1\r\nHost:\r\n\r\n"),
    same("two hosts", "{plain}Host: y\r\n\r\n"),
    same("a host with a port", "GET /plain.txt HTTP/1.1\r\nHost: x:8080\r\n\r\n"),
    same("a host that is none", "GET /plain.txt HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    same("absolute form", "GET http://x/plain.txt{x}\r\n"),
    same("absolute form, no path", "GET http://x{x}\r\n"),
    same("absolute form, up", "GET http://x/../../etc/passwd{x}\r\n"),
    same("no leading slash", "GET plain.txt{x}\r\n"),
    same("a star", "GET *{x}\r\n"),
    // Several in a row.
    same("a pair", "{plain}\r\nGET /data.bin{x}\r\n").with_heads(&[false, false]),
    same("a head and a get", "HEAD /plain.txt{x}\r\n{plain}\r\n").with_heads(&[true, false]),
    same("missing and there", "GET /missing{x}\r\n{plain}\r\n").with_heads(&[false, false]),
    same("a close cuts off", "{plain}Connection: close\r\n\r\nGET /data.bin{x}\r\n")
        .with_heads(&[false, false]),
    same(
        "a get with a body, and another",
        "{plain}Content-Length: 5\r\n\r\nabcdeGET /data.bin{x}\r\n",
    )
    .with_heads(&[false, false]),
    same(
        "a get with chunks, and another",
        "{plain}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /data.bin{x}\r\n",
    )
    .with_heads(&[false, false]),
    same("an empty line before", "\r\n{plain}\r\n"),
    same("lines that end in LF", "GET /plain.txt HTTP/1.1\nHost: x\n\n"),
    // What is wrong.
    same("no request at all", "nonsense\r\n\r\n"),
    same("a colon without a name", "{plain}: value\r\n\r\n"),
    same("a name with a space", "{plain}X Y: z\r\n\r\n"),
    same("a space before the colon", "GET /plain.txt HTTP/1.1\r\nHost : x\r\n\r\n"),
    same("a field that goes on", "{plain}X-A: b\r\n c\r\n\r\n"),
    same("a zero in a value", "{plain}X-A: b\0c\r\n\r\n"),
    same("a length that is none", "{plain}Content-Length: x\r\n\r\n"),
    same("a length below zero", "{plain}Content-Length: -1\r\n\r\n"),
    same("two lengths", "{plain}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    same(
        "a length and chunks",
        "{plain}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    same("an unknown coding", "{plain}Transfer-Encoding: gzip\r\n\r\n"),
    same("a long field", "{plain}X-A: {long}\r\n\r\n").but(
        "the head is too large, and a status of its own says so (RFC 6585)",
        &[("status", "400", "431")],
    ),
    same("a hundred fields", "{plain}{many}\r\n").but(
        "a head has 64 fields at most",
        &[
            ("Accept-Ranges", "bytes", ""),
            ("Content-Length", "26", ""),
            ("Content-Type", "text/plain", ""),
            ("ETag", "yes", "no"),
            ("Last-Modified", "Thu, 29 Feb 2024 12:00:00 GMT", ""),
            ("body", "abcdefghijklmnopqrstuvwxyz", ""),
            ("closes", "no", "yes"),
            ("goes on", "yes", "no"),
            ("status", "200", "431"),
        ],
    ),
    same(
        "expect, and the body with it",
        "{plain}Expect: 100-continue\r\nContent-Length: 2\r\n\r\nab",
    ),
    same("expect what nobody knows", "{plain}Expect: miracles\r\n\r\n").but(
        "what is expected and can't be met is refused (RFC 9110, 10.1.1)",
        &[
            ("Accept-Ranges", "bytes", ""),
            ("Content-Length", "26", ""),
            ("Content-Type", "text/plain", ""),
            ("ETag", "yes", "no"),
            ("Last-Modified", "Thu, 29 Feb 2024 12:00:00 GMT", ""),
            ("body", "abcdefghijklmnopqrstuvwxyz", ""),
            ("closes", "no", "yes"),
            ("goes on", "yes", "no"),
            ("status", "200", "417"),
        ],
    ),
];
