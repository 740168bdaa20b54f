//! Profiles as other programs read them: flame graphs by inferno, pprof by `go tool pprof`, and speedscope by
//! its own importer.

use base64::Engine;
use fixtures::{cell, metric, run, workload};
use inferno::collapse::{Collapse, perf};
use model::{CellKey, Frame, FrameKind, Interner, ProfiledRegion, Run};
use report::export::{Content, Format, Material, Selection, TABLE, find, narrowed, selected};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

fn key(subject: &str, point: u64) -> CellKey {
    fixtures::key("poll", subject, point, 0)
}

/// Two subjects at two points, with frames of every kind.
fn profiled() -> Run {
    let hot = |walked| {
        [
            ("knee worker;main;poll;do_sys_poll_[k]", 10),
            ("knee worker;main;poll;do_sys_poll_[k];sock_poll_[k]", walked),
            ("knee worker;main;<alloc::vec::Vec<u8> as core::ops::Drop>::drop", 2),
            ("knee worker;[libc.so.6]", 1),
        ]
    };
    let mut profile = fixtures::profile()
        .cell(key("epoll", 100), "loop", (1000, 20_000_000), hot(1))
        .cell(key("epoll", 10_000), "loop", (1000, 20_000_000), hot(1))
        .cell(key("poll", 100), "loop", (1000, 40_000_000), hot(20))
        .region("wait", 100, (1000, 40_000_000), hot(3))
        .cell(key("poll", 10_000), "loop", (10, 900_000_000), hot(840))
        .build();
    // What has no name, and what runs elsewhere than in files.
    let mut interner = Interner::new(&profile);
    let frame = |function: &str, module: &str, kind| Frame {
        function: function.into(),
        module: module.into(),
        kind,
    };
    let process = frame("my;node app", "", FrameKind::Process);
    let leaves = [
        frame("", "", FrameKind::Unknown),
        frame("", "kernel", FrameKind::Kernel),
        frame("nf_hook", "nf_conntrack", FrameKind::KernelModule),
        frame("clock_gettime", "[vdso]", FrameKind::Vdso),
        frame("bpf_prog_1234_x", "bpf", FrameKind::Bpf),
        frame("LazyCompile:~f", "", FrameKind::Jit),
        frame("", "/opt/with space/lib.so", FrameKind::User),
        frame("a;b", "lib.so", FrameKind::User),
    ];
    for (leaf, count) in leaves.iter().zip(1..) {
        let stack = interner.stack(&mut profile, [&process, leaf]).unwrap();
        profile.cells[1].regions[0].samples.push((stack, count));
    }
    let poll = workload("poll")
        .axis("watched descriptors", "watched")
        .metric("loop", "write + wait", "ns")
        .metric("wait", "wait", "ns")
        .subject("poll", "poll", "")
        .subject("epoll", "epoll", "");
    let cells = [("poll", 100), ("poll", 10_000), ("epoll", 100), ("epoll", 10_000)];
    let cells = cells.map(|(subject, point)| {
        cell("poll", subject, point, 0).metric(metric("loop", vec![point as f64]))
    });
    run(poll).cells(cells).profile(profile).complete()
}

fn bytes(run: &Run, format: &str) -> Vec<u8> {
    let format: &Format = find(format).unwrap();
    let mut bytes = Vec::new();
    let material = Material::new(run, None);
    (format.check)(&material).unwrap();
    (format.write)(&material, &mut bytes).unwrap();
    assert!(format.content == Content::Profile && crate::export::is_marked(format, &bytes));
    bytes
}

fn text(run: &Run, format: &str) -> String {
    String::from_utf8(bytes(run, format)).unwrap()
}

fn selection(subjects: &[&str], points: &[u64]) -> Selection {
    let subjects = subjects.iter().map(|subject| (*subject).to_owned()).collect();
    Selection { subjects, points: points.to_vec() }
}

fn hottest() -> Run {
    selected(narrowed(profiled(), "poll/loop").unwrap(), &selection(&["poll"], &[10_000])).unwrap()
}

/// The samples of each stack, its frames' names with spaces.
fn counts(folded: &str) -> BTreeMap<String, u64> {
    let lines = folded.lines().map(|line| line.rsplit_once(' ').unwrap());
    lines.map(|(stack, count)| (stack.to_owned(), count.parse().unwrap())).collect()
}

#[test]
fn one_cell_is_folded_into_plain_stacks_and_several_are_named() {
    assert_eq!(
        text(&hottest(), "folded"),
        "knee_worker;[libc.so.6] 1\n\
         knee_worker;main;<alloc::vec::Vec<u8> as core::ops::Drop>::drop 2\n\
         knee_worker;main;poll;do_sys_poll_[k] 10\n\
         knee_worker;main;poll;do_sys_poll_[k];sock_poll_[k] 840\n"
    );
    let all = text(&profiled(), "folded");
    let firsts: Vec<&str> = all.lines().filter_map(|line| line.split(';').next()).collect();
    let mut titles = firsts.clone();
    titles.dedup();
    assert_eq!(
        titles,
        [
            "poll/poll/loop watched=100",
            "poll/poll/loop watched=10000",
            "poll/epoll/loop watched=100",
            "poll/epoll/loop watched=10000",
            "poll/poll/wait watched=100",
        ],
        "in the order of the tables"
    );
    assert!(all.contains(" watched=10000;my:node_app;a:b 8\n"), "{all}");
}

/// Flame graphs are drawn of it, and every line is taken.
#[test]
fn inferno_draws_a_flame_graph_of_folded_stacks() {
    let run = hottest();
    let folded = text(&run, "folded");
    let mut svg = Vec::new();
    let mut options = inferno::flamegraph::Options::default();
    inferno::flamegraph::from_lines(&mut options, folded.lines(), &mut svg).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    for words in ["<title>sock_poll (840 samples, 98.48%)", "<title>all (853 samples, 100%)"] {
        assert!(svg.contains(words), "{words}");
    }
}

#[test]
fn infernos_collapser_makes_the_same_folded_stacks_of_the_perf_script() {
    for run in [hottest(), selected(profiled(), &selection(&["epoll"], &[10_000])).unwrap()] {
        let mut options = perf::Options::default();
        (options.annotate_kernel, options.annotate_jit) = (true, true);
        let script = bytes(&run, "perf-script");
        let mut collapsed = Vec::new();
        perf::Folder::from(options).collapse(script.as_slice(), &mut collapsed).unwrap();
        let collapsed = String::from_utf8(collapsed).unwrap();
        assert_eq!(counts(&collapsed), counts(&text(&run, "folded")));
    }
}

fn run_program(program: &str, words: &[&str]) -> Option<Output> {
    Command::new(program).args(words).output().ok()
}

#[test]
fn pprof_has_the_samples_with_their_labels() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.pb.gz");
    std::fs::write(&file, bytes(&profiled(), "pprof")).unwrap();
    let file = file.to_str().unwrap();
    let pprof = |words: &[&str]| {
        let all: Vec<&str> = ["tool", "pprof"].iter().chain(words).copied().chain([file]).collect();
        run_program("go", &all)
    };
    let Some(top) = pprof(&["-top", "-sample_index=samples", "-tagfocus=poll", "-nodecount=3"])
    else {
        eprintln!("SKIPPED: there is no go here, which has pprof");
        return;
    };
    let printed = |output: &Output| {
        let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(output.status.success(), "{out}{err}");
        out.into_owned()
    };
    let top = printed(&top);
    let line = top.lines().find(|line| line.ends_with(" sock_poll")).unwrap();
    assert_eq!(line.split_whitespace().next(), Some("865"), "{top}");
    let ends = printed(&pprof(&["-top", "-tagfocus=10000:10000", "-unit=ms"]).unwrap());
    assert!(ends.contains("841ms") && ends.contains("sock_poll"), "{ends}");
    let tags = printed(&pprof(&["-tags", "-sample_index=samples"]).unwrap());
    for word in ["subject", "epoll", "workload", "metric", "wait", "point"] {
        assert!(tags.contains(word), "{word}: {tags}");
    }
    let raw = printed(&pprof(&["-raw"]).unwrap());
    assert!(raw.contains("nf_conntrack") && raw.contains("PeriodType: cpu nanoseconds"), "{raw}");
}

/// Waiting is no CPU time: `go tool pprof` shows that of threads that ran, and the other by its name.
#[test]
fn pprof_keeps_waits_apart_from_cpu_time() {
    let mut run = profiled();
    run.profile = fixtures::profile()
        .cell(key("poll", 100), "loop", (1000, 20_000_000), [("main;poll", 20)])
        .region("loop waits", 100, (1000, 20_000_000), [("main;schedule", 5)])
        .build();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.pb.gz");
    std::fs::write(&file, bytes(&run, "pprof")).unwrap();
    let Some(raw) = run_program("go", &["tool", "pprof", "-raw", file.to_str().unwrap()]) else {
        eprintln!("SKIPPED: there is no go here, which has pprof");
        return;
    };
    let raw = String::from_utf8_lossy(&raw.stdout).into_owned();
    assert!(raw.contains("samples/count cpu/nanoseconds[dflt] wait/nanoseconds"), "{raw}");
    assert!(raw.contains(" 20   20000000          0: "), "{raw}");
    assert!(raw.contains("  5          0    5000000: "), "{raw}");
}

#[test]
fn speedscope_has_a_profile_for_each_cell() {
    let run = profiled();
    let file: Value = serde_json::from_slice(&bytes(&run, "speedscope")).unwrap();
    let profiles = file["profiles"].as_array().unwrap();
    let names: Vec<&str> = profiles.iter().map(|each| each["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), names[0]), (5, "poll/poll/loop watched=100"));
    let region: &ProfiledRegion = &run.profile.cells[2].regions[0];
    let samples = profiles[0]["samples"].as_array().unwrap();
    assert_eq!(samples.len(), region.samples.len());
    let deepest = samples.iter().max_by_key(|stack| stack.as_array().unwrap().len()).unwrap();
    let frames = &file["shared"]["frames"];
    let names: Vec<&str> = deepest
        .as_array()
        .unwrap()
        .iter()
        .map(|index| frames[index.as_u64().unwrap() as usize]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["knee worker", "main", "poll", "do_sys_poll", "sock_poll"]);
    assert_eq!(profiles[0]["endValue"], 33e6);
}

/// speedscope itself, in a browser: its page is named after the file once it has been read.
#[test]
fn speedscope_opens_it() {
    let package =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/npm/node_modules/speedscope");
    let page = package.join("dist/release/index.html");
    let browser = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into());
    let is_skipped = std::env::var("KNEE_NO_BROWSER").is_ok_and(|value| value == "1");
    if is_skipped || !page.is_file() || run_program(&browser, &["--version"]).is_none() {
        eprintln!("SKIPPED: no speedscope or no Chromium here; `cargo xtask setup` installs both");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let title = |file: &[u8]| {
        let script = directory.path().join("profile.js");
        let file = base64::engine::general_purpose::STANDARD.encode(file);
        let call = format!("speedscope.loadFileFromBase64('run.speedscope.json', '{file}')");
        std::fs::write(&script, call).unwrap();
        let profile = format!("--user-data-dir={}", directory.path().join("profile").display());
        let url = format!("file://{}#localProfilePath={}", page.display(), script.display());
        let flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000"];
        let words: Vec<&str> = flags.into_iter().chain(["--dump-dom", &profile, &url]).collect();
        let document = String::from_utf8(run_program(&browser, &words).unwrap().stdout).unwrap();
        let title = document.split_once("<title>").unwrap().1;
        title.split_once("</title>").unwrap().0.to_owned()
    };
    assert_eq!(title(b"{}"), "speedscope");
    let opened = title(&bytes(&profiled(), "speedscope"));
    assert!(opened.starts_with("run 1 (0123456789abcdef) of "), "{opened}");
}

#[test]
fn what_has_no_profile_is_refused_with_what_to_do() {
    let mut without = profiled();
    without.profile = model::Profile::default();
    let mut empty = profiled();
    for region in empty.profile.cells.iter_mut().flat_map(|cell| &mut cell.regions) {
        region.samples.clear();
    }
    for format in TABLE.iter().filter(|format| format.content == Content::Profile) {
        let refused = |run: &Run| (format.check)(&Material::new(run, None)).unwrap_err();
        assert_eq!(
            refused(&without),
            "the run has no profile; `knee run --profile` measures one",
            "{}",
            format.name
        );
        assert!(refused(&empty).starts_with("no sample was taken while it was timed"));
    }
    let mut endless = profiled();
    endless.profile.cells[0].regions[0].samples[0].1 = 1 << 50;
    let format = find("perf-script").unwrap();
    let refused = (format.check)(&Material::new(&endless, None)).unwrap_err();
    assert!(refused.ends_with("--format folded has a line for each stack"), "{refused}");
    let unknown = selected(profiled(), &selection(&["pol"], &[])).unwrap_err();
    assert_eq!(unknown, "the run has no subject in its profile `pol`; it has epoll, poll");
    let unknown = selected(profiled(), &selection(&[], &[7])).unwrap_err();
    assert_eq!(unknown, "the run has no point in its profile `7`; it has 100, 10000");
}
