//! What is loaded is what was kept, but for the user names and passwords of URLs.

use crate::common::{cell, run};
use archive::{Archive, Merged, SqliteArchive, keeping, merge};
use model::{Cell, Custom, FailureReason, Outcome, Run, Short, Template, Warning, WorkloadInfo};
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::tempdir;

/// A text, and what is kept of it.
type Text = (String, String);

fn plain(text: String) -> Text {
    (text.clone(), text)
}

/// A URL whose user and password are `info`.
fn with_user(scheme: &str, info: &str, quote: &str, rest: &str) -> Text {
    let url = |info: &str| format!("{quote}{scheme}://{info}@host{rest}{quote}");
    (url(info), url("***"))
}

fn piece() -> impl Strategy<Value = Text> {
    let words = r#"[a-zA-Z0-9@:/{}$;|&<>()"'`\\ =.,ä-]{0,12}"#;
    let words = words.prop_filter("a URL", |text| !text.contains("://")).prop_map(plain);
    let databases = || prop::sample::select(vec!["postgres", "POSTGRESQL", "x=postgresql"]);
    let web_schemes = || prop::sample::select(vec!["http", "https", "redis", "postgresql+x"]);
    let quotes = || prop::sample::select(vec!["\"", "'", "`"]);
    // Without an @ in its own authority it has no secret, whatever follows it.
    let open = (databases(), r"(localhost)?(:(\$PORT|[0-9]{1,4}))?(/[a-z]{0,3})?")
        .prop_map(|(scheme, rest)| plain(format!("{scheme}://{rest}")));
    let open_web = (web_schemes(), r"(localhost)?(:\$PORT)?(/[a-z@:]{0,9})?(\?[a-z@=&]{0,9})?")
        .prop_map(|(scheme, rest)| plain(format!("{scheme}://h{rest}")));
    let database = (databases(), "[a-z%.:/?!$*+,=&@-]{1,12}", "(/[a-z]{0,3})?")
        .prop_map(|(scheme, info, rest)| with_user(scheme, &info, "", &rest));
    let web = (web_schemes(), "[a-z%.:!$*+,=&@-]{1,12}", "(:[0-9]{1,3})?(/[a-z@:]{0,9})?")
        .prop_map(|(scheme, info, rest)| with_user(scheme, &info, "", &rest));
    let quoted = (databases(), "[a-z:;|<> ]{1,12}", quotes(), "(/[a-z]{0,3})?").prop_map(
        |(scheme, info, quote, rest)| {
            with_user(scheme.trim_start_matches("x="), &info, quote, &rest)
        },
    );
    let parameter = (databases(), "[a-z:@]{1,9}", "(&x=[a-z]{0,3})?")
        .prop_filter("an @ ends a user's name", |(_, secret, _)| !secret.contains('@'))
        .prop_map(|(scheme, secret, rest)| {
            let url = |value: &str| format!("{scheme}://h/d?password={value}{rest}");
            (url(&format!("{secret}x")), url("***"))
        });
    prop_oneof![
        5 => words, 2 => open, 2 => open_web, 1 => database, 1 => web, 1 => quoted, 1 => parameter
    ]
}

fn text() -> impl Strategy<Value = Text> {
    let between = prop::sample::select(vec![" ", "\n", "\t", "; "]);
    vec((piece(), between), 0..6).prop_map(|pieces| {
        let join = |which: fn(&Text) -> &str| {
            pieces.iter().flat_map(|(text, between)| [which(text), *between]).collect()
        };
        (join(|text| &text.0), join(|text| &text.1))
    })
}

/// A run with these texts wherever it has some of a user or of a program.
fn with_texts(texts: &[&str]) -> Run {
    let mut texts = texts.iter().cycle().map(|&text| text.to_owned());
    let mut next = || texts.next().unwrap();
    let template = |text: String| Template { name: "a".into(), text };
    let custom = Custom {
        commands: vec![template(next()), template(next())],
        words: [("to".to_owned(), vec![next().as_str().into(), 7.into()])].into(),
        setup: Some(next()),
        directory: next().into(),
        ..Custom::default()
    };
    let workload = WorkloadInfo { custom: Some(Box::new(custom)), ..WorkloadInfo::default() };
    let mut run = run("0123456789abcdef", 2);
    run.plan.workloads.push(workload);
    run.summary.command = vec!["knee".into(), next(), next(), next()];
    run.summary.labels = [("a".to_owned(), next()), ("b".to_owned(), next())].into();
    run.host_before.facts.insert("directory".into(), next().into());
    run.warnings = vec![Warning { what: next(), remedy: next() }];
    let failed = FailureReason::Reported { message: next() };
    let short = FailureReason::Reported { message: next() };
    let mut measured = Cell { short: Some(Short { reached: 1, reason: short }), ..cell(0) };
    measured.facts = [("output".to_owned(), next().into())].into();
    measured.key.parameters.insert("to".into(), next().as_str().into());
    measured.key.subject = next();
    let outcome = Outcome::Failed { reason: failed, detail: next() };
    run.cells = vec![measured, Cell { outcome, ..cell(1) }];
    run
}

/// So many of the usual number of cases, which an environment variable sets.
fn config(cases: impl Fn(u32) -> u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: cases(usual.cases), ..usual }
}

proptest! {
    // Each is written to the disk.
    #![proptest_config(config(|cases| cases / 8))]

    #[test]
    fn a_run_is_loaded_as_it_was_kept_but_for_passwords(texts in vec(text(), 1..12)) {
        let all = |which: fn(&Text) -> &str| texts.iter().map(which).collect::<Vec<_>>();
        let (typed, clean) = (with_texts(&all(|text| &text.0)), with_texts(&all(|text| &text.1)));
        let directory = tempdir().unwrap();
        let mut archive = SqliteArchive::open(directory.path().join("knee.db")).unwrap();
        let Ok(Merged::Copied(number)) = merge(&mut archive, &typed) else { panic!("not kept") };
        let mut loaded = archive.load(number).unwrap();
        loaded.summary = model::RunSummary {
            command: loaded.summary.command,
            labels: loaded.summary.labels,
            ..clean.summary.clone()
        };
        prop_assert_eq!(loaded, clean);
        prop_assert_eq!(merge(&mut archive, &typed).unwrap(), Merged::Alike);
    }
}

proptest! {
    #![proptest_config(config(|cases| 8 * cases))]

    #[test]
    fn each_text_of_json_is_cleaned_by_itself(texts in vec(text(), 0..6)) {
        let all = |which: fn(&Text) -> &str| texts.iter().map(which).collect::<Vec<_>>();
        let path = std::path::Path::new("a");
        let json = keeping::json(&all(|text| &text.0), &keeping::clean, path).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), all(|text| &text.1));
        let again = keeping::json(&all(|text| &text.1), &keeping::clean, path).unwrap();
        prop_assert_eq!(again, json, "what is clean stays so");
    }
}
