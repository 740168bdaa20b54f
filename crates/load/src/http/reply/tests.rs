//! Replies of every framing, whole and in pieces.

use super::*;
use proptest::prelude::*;

/// Feeds `input` in pieces that end at `cuts`, and returns what each reply came to: status, keep
/// and bytes. None if it is malformed.
fn replies(input: &[u8], cuts: &[usize]) -> Option<Vec<(u16, bool, u64)>> {
    let (mut reply, mut heads) = (Reply::default(), Heads::default());
    let mut ended = Vec::new();
    let mut from = 0;
    for &cut in cuts.iter().chain([&input.len()]) {
        let mut piece = &input[from..cut.max(from)];
        from = cut.max(from);
        while !piece.is_empty() {
            match reply.feed(piece, &mut heads) {
                Step::Whole(whole) => {
                    ended.push((whole.head.status, whole.head.keeps(), whole.bytes));
                    piece = &piece[whole.used..];
                }
                Step::More => break,
                Step::Malformed => return None,
            }
        }
    }
    if let Some(whole) = reply.end() {
        ended.push((whole.head.status, whole.head.keeps(), whole.bytes));
    }
    Some(ended)
}

fn single_reply(input: &str) -> Option<Vec<(u16, bool, u64)>> {
    replies(input.as_bytes(), &[])
}

#[test]
fn the_end_of_a_reply_is_found_by_length_chunks_close_or_status() {
    let bytes = |text: &str| text.len() as u64;
    let cases = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, true),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, true),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n", 304, true),
        ("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", 404, false),
        ("HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 0\r\n\r\n", 200, false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, false),
        ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", 200, true),
        ("HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, false),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 200, true),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\nA;x=\"y\"\r\n0123456789\r\n0\r\nT: x\r\n\r\n",
            200,
            true,
        ),
    ];
    for (text, status, keep) in cases {
        assert_eq!(single_reply(text), Some(vec![(status, keep, bytes(text))]), "{text}");
    }
}

#[test]
fn an_interim_reply_is_passed_over() {
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
                HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(single_reply(text), Some(vec![(200, true, text.len() as u64)]));
}

#[test]
fn a_head_may_have_hundreds_of_lines() {
    let text = format!("HTTP/1.1 200 OK\r\n{}Content-Length: 1\r\n\r\nx", "X: y\r\n".repeat(400));
    assert_eq!(single_reply(&text), Some(vec![(200, true, text.len() as u64)]));
}

#[test]
fn what_is_no_http_is_malformed() {
    let long = format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(70_000));
    for text in [
        "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11112222333344445\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 999 What\r\n\r\n",
        &long,
    ] {
        assert_eq!(single_reply(text), None, "{text:.60}");
    }
}

#[test]
fn a_head_that_repeats_is_not_taken_for_a_longer_one() {
    let first = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    let shorter = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nxxxxxxxxxxxx";
    let text = format!("{first}{first}{shorter}{first}");
    let sizes = [first.len(), first.len(), shorter.len(), first.len()];
    let expected = sizes.map(|bytes| (200, true, bytes as u64)).to_vec();
    assert_eq!(single_reply(&text), Some(expected));
}

/// A reply of random framing, and what it is to come to.
fn any_reply() -> impl Strategy<Value = (Vec<u8>, u16)> {
    let chunks = prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..5);
    (chunks, any::<bool>(), 0..3_u8, prop::sample::select(vec![200_u16, 206, 404, 500])).prop_map(
        |(chunks, chunked, trailers, status)| {
            let mut bytes = format!("HTTP/1.1 {status} Words\r\nServer: x\r\n").into_bytes();
            if chunked {
                bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                for chunk in &chunks {
                    bytes.extend(format!("{:x};q=1\r\n", chunk.len()).into_bytes());
                    bytes.extend(chunk);
                    bytes.extend(b"\r\n");
                }
                bytes.extend(b"0\r\n");
                (0..trailers).for_each(|n| bytes.extend(format!("T{n}: v\r\n").into_bytes()));
                bytes.extend(b"\r\n");
            } else {
                let body = chunks.concat();
                bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes());
                bytes.extend(body);
            }
            (bytes, status)
        },
    )
}

proptest! {
    /// Wherever a stream of replies is cut, it holds the same replies.
    #[test]
    fn replies_may_be_split_anywhere(
        replies_in in prop::collection::vec(any_reply(), 1..6),
        mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        every_byte: bool,
    ) {
        let stream: Vec<u8> = replies_in.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
        let mut cuts: Vec<usize> = cuts.drain(..).map(|cut| cut.index(stream.len())).collect();
        if every_byte {
            cuts = (0..stream.len()).collect();
        }
        cuts.sort_unstable();
        let expected: Vec<(u16, bool, u64)> =
            replies_in.iter().map(|(bytes, status)| (*status, true, bytes.len() as u64)).collect();
        prop_assert_eq!(replies(&stream, &cuts), Some(expected));
    }

    /// Whatever comes, it is taken or refused, and never more of it than there is.
    #[test]
    fn noise_is_survived(noise in prop::collection::vec(any::<u8>(), 0..300), chunked: bool) {
        let mut input = b"HTTP/1.1 200 OK\r\n".to_vec();
        input.extend(if chunked { &b"Transfer-Encoding: chunked\r\n\r\n"[..] } else { b"\r\n" });
        input.extend(&noise);
        if let Some(ended) = replies(&input, &[]) {
            prop_assert!(ended.iter().map(|(_, _, bytes)| bytes).sum::<u64>() <= input.len() as u64);
        }
    }
}
