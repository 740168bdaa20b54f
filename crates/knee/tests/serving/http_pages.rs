//! What the page about the server says of its bounds is what the server does.

/// What the page says of bounds that are no flags is what the server does.
#[test]
fn the_bounds_of_a_head_are_those_on_the_page() {
    use crate::common::http::Httpd;
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a"), "a").unwrap();
    let server = Httpd::start(directory.path(), &[]);
    let status = |target: &str, fields: &str| {
        let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
        let mut client = server.connect();
        // What is refused early is not always taken to its end.
        let _ = client.send(request.as_bytes());
        client.reply(false).unwrap().status
    };
    assert_eq!(status("/a", &"A: b\r\n".repeat(63)), 200);
    assert_eq!(status("/a", &"A: b\r\n".repeat(64)), 431);
    assert_eq!(status("/a", &format!("A: {}\r\n", "b".repeat(15 << 10))), 200);
    assert_eq!(status("/a", &format!("A: {}\r\n", "b".repeat(16 << 10))), 431);
    assert_eq!(status(&format!("/a?{}", "b".repeat(7 << 10)), ""), 200);
    assert_eq!(status(&format!("/a?{}", "b".repeat(8 << 10)), ""), 414);
}
