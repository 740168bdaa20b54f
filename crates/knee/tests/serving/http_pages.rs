//! The pages about the server and the load generator name every flag, with the default that help has.

use crate::common::Knee;

/// The long flags of a command, each with its default as help has it.
fn flags(help: &str) -> Vec<(String, Option<String>)> {
    let mut flags: Vec<(String, Option<String>)> = Vec::new();
    // Help folds its lines: what belongs to a flag is all up to the next one.
    let is_inside = |line: &&str| line.is_empty() || line.starts_with(' ');
    let options = help.split("Options:\n").nth(1).unwrap().lines().take_while(is_inside);
    let options = options.collect::<Vec<_>>().join("\n");
    let starts = options.split("\n      --").map(|text| text.trim_start_matches("      --"));
    for text in starts {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = text.split(" -h, --help").next().unwrap();
        let name = text.split(' ').next().unwrap().to_owned();
        let default = text.split("[default: ").nth(1).map(|rest| {
            // A list of words has no blanks.
            let rest = rest.split([']', ';']).next().unwrap_or_default();
            rest.split(", ").next().unwrap_or_default().to_owned()
        });
        flags.push((name, default));
    }
    // Every command has these.
    flags.retain(|(name, _)| !["quiet", "color"].contains(&name.as_str()));
    flags
}

#[test]
fn every_flag_and_its_default_are_on_the_page() {
    let knee = Knee::new();
    let pages = [
        ("httpd", include_str!("../../../../docs/httpd.md")),
        ("load", include_str!("../../../../docs/load.md")),
    ];
    for (command, page) in pages {
        let help = knee.run(&[command, "--help"]).out;
        let flags = flags(&help);
        assert!(flags.len() >= 12, "{flags:?}");
        for (name, default) in flags {
            assert!(page.contains(&format!("--{name}")), "docs/{command}.md has no --{name}");
            // Limits and the like stand in a table, with their defaults.
            let row = page.lines().find(|line| line.starts_with(&format!("| `--{name}` |")));
            if let (Some(row), Some(default)) = (row, default) {
                let shown = row.split('|').nth(2).unwrap().trim();
                let wanted = default.split(' ').next().unwrap();
                assert_eq!(shown.split(' ').next().unwrap(), wanted, "docs/{command}.md: {row}");
            }
        }
    }
}

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
