//! `knee load --together` by real hydra, which meets at a real PostgreSQL; skipped by name where one of them is missing.
#![cfg(feature = "postgres")]

use crate::common::postgres::Postgres;
use crate::common::slurm::on_controller;
use crate::common::{Came, Knee, came};
use crate::load::Server;
use archive::{Archive, SqliteArchive};
use model::Run;
use std::process::Stdio;

fn has_hydra() -> bool {
    fixtures::needed_program("mpiexec.hydra").is_some()
}

/// Four ranks of hydra, on four nodes that are one, put a load on `server`.
fn four(knee: &Knee, server: &Server, flags: &str) -> Came {
    let script = format!(
        "exec mpiexec.hydra -launcher fork -hosts a,b,c,d -ppn 1 -n 4 \"$KNEE\" load {} --rate 400 --poisson --seed 3 \
         --connections 8 --threads 2 --duration 1s --name shop --together --check-in 2m --json {flags} </dev/null",
        server.url(),
    );
    came(&mut knee.shell(&script))
}

/// Four ranks are one load and one run, which is that of one process.
fn assert_one_load(knee: &Knee, server: &Server, flags: &str) {
    let together = four(knee, server, flags);
    assert_eq!(together.code, Some(0), "{together:?}");
    let result: serde_json::Value =
        serde_json::from_str(&together.out).unwrap_or_else(|error| panic!("{error}: {together:?}"));
    assert_eq!(result["ranks"].as_array().map(Vec::len), Some(4), "{result:#}");
    let run = knee.last_run();
    assert_eq!((run.cells.len(), &run.summary.fleet), (10, &None));
    let load = run.cells.last().unwrap().load.as_ref().unwrap();
    let ranks = serde_json::to_value(&load.ranks).unwrap();
    assert_eq!(ranks, result["ranks"], "the run has the figures that are printed");
    let listed = knee.run(&["record", "list", "--json"]);
    let runs: serde_json::Value = serde_json::from_str(&listed.out).unwrap();
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(1), "no share is left: {listed:?}");
    let number = run.summary.number;

    let alone = knee.run(&[
        "load",
        &server.url(),
        "--rate",
        "400",
        "--poisson",
        "--seed",
        "3",
        "--connections",
        "8",
        "--threads",
        "2",
        "--duration",
        "1s",
        "--name",
        "shop",
        "--record",
        "--json",
    ]);
    let alone: serde_json::Value = serde_json::from_str(&alone.out).unwrap();
    let due = |load: &serde_json::Value| {
        load["requests"].as_u64().unwrap() + load["unsent"].as_u64().unwrap()
    };
    assert_eq!(due(&result), due(&alone), "the same plan");
    let compared = knee.run(&["compare", &number.to_string(), "last"]);
    assert_eq!(compared.code, Some(0), "{compared:?}");
    assert!(compared.out.contains("load · "), "one key: {compared:?}");
    knee.assert_no_process_left();
}

#[test]
fn four_ranks_that_meet_at_an_archive_are_one_load_and_one_run() {
    if !has_hydra() {
        return;
    }
    let Some(archive) = Postgres::new() else { return };
    let (knee, server) = (Knee::new(), Server::start());
    assert_one_load(&knee, &server, &format!("--push '{}'", archive.url()));
    let shown = knee.run(&["show", "last", "--record", &archive.url(), "--json"]);
    assert_eq!(shown.code, Some(0), "the archive has it: {shown:?}");
}

#[test]
fn four_ranks_that_meet_by_their_launcher_are_one_load_and_one_run() {
    if has_hydra() {
        assert_one_load(&Knee::new(), &Server::start(), "--record");
    }
}

#[test]
fn a_rank_that_is_alone_does_not_wait_for_ever() {
    let Some(archive) = Postgres::new() else { return };
    let (knee, server) = (Knee::new(), Server::start());
    let (url, push) = (server.url(), archive.url());
    let words = "--together --fleet script --rank 0 --of 3 --check-in 300ms --push";
    let words: Vec<&str> =
        ["load", &url].into_iter().chain(words.split(' ')).chain([&*push]).collect();
    let came = knee.run(&words);
    let wanted = "knee: ranks 1 and 2 of 3 did not check in within 0.3 s (fleet script)\n";
    assert_eq!((came.code, &*came.err), (Some(1), wanted), "{came:?}");
}

#[test]
fn what_can_not_be_together_is_refused_at_once() {
    let (knee, server) = (Knee::new(), Server::start());
    let url = server.url();
    for words in [
        &["load", &url, "--together"][..],
        &["load", &url, "--together", "--push", "postgres://me@localhost/perf"],
        &["load", &url, "--together", "--push", "x.db", "--fleet", "a", "--rank", "0", "--of", "2"],
        &[
            "load",
            &url,
            "--together",
            "--push",
            "postgres://me@localhost/perf",
            "--fleet",
            "a",
            "--rank",
            "0",
            "--of",
            "20",
        ],
    ] {
        let mut command = knee.command(words);
        let came = came(command.stdin(Stdio::null()));
        assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{words:?}: {came:?}");
    }
}

/// The start of a load by three nodes of Slurm. Each records into a file of its own.
const SLURM_LOAD: &str = r#"
    directory=$XDG_DATA_HOME; mkdir "$directory/www"; echo hi >"$directory/www/x"
    "$KNEE" httpd "$directory/www" --port 8080 >"$directory/httpd" &
    until [ -s "$directory/httpd" ]; do sleep 0.02; done
    export LOAD="load http://10.77.0.1:8080/x --rate 300 --poisson --seed 3 --connections 6 --threads 1 --timeout 1s \
        --name shop --yes-i-own-this-host --together --json"
    "#;

fn records(knee: &Knee) -> Vec<usize> {
    let number = |rank: u32| {
        let file = knee.record().with_file_name(format!("{rank}.db"));
        SqliteArchive::open_read_only(file).map_or(0, |archive| archive.runs().unwrap().len())
    };
    (0..3).map(number).collect()
}

/// The load of three nodes that `words` shows, as the ranks that are in it.
fn ranks_in(knee: &Knee, words: &[&str]) -> (Run, Vec<bool>) {
    let shown = knee.run(&[&["show", "last", "--json"], words].concat());
    let run = report::json::read(shown.out.as_bytes())
        .unwrap_or_else(|error| panic!("{error}: {shown:?}"));
    let load = run.cells.last().unwrap().load.as_ref().unwrap();
    let ranks = load.ranks.iter().map(|rank| rank.measured.is_some()).collect();
    (run, ranks)
}

#[test]
fn three_nodes_of_slurm_are_one_load_without_an_archive() {
    let knee = Knee::new();
    let script = format!(
        r#"{SLURM_LOAD} exec srun --mpi=pmi2 --nodes=3 sh -c 'exec "$KNEE" $LOAD --duration 1s \
            --record "$XDG_DATA_HOME/knee/$SLURM_PROCID.db"'"#
    );
    let Some(together) = on_controller(&knee, &script) else { return };
    assert_eq!(together.code, Some(0), "{together:?}");
    let (_, ranks) =
        ranks_in(&knee, &["--record", knee.record().with_file_name("0.db").to_str().unwrap()]);
    assert_eq!(ranks, [true; 3]);
    assert_eq!(records(&knee), [1, 0, 0], "no share is left");
}

#[test]
fn a_killed_node_of_slurm_is_named_and_what_the_others_measured_is_kept() {
    let Some(archive) = Postgres::new() else { return };
    let knee = Knee::new();
    let push = archive.url();
    let script = format!(
        r#"{SLURM_LOAD} export LOAD="$LOAD --push {push}"; exec srun --nodes=3 sh -c '
            own="$XDG_DATA_HOME/knee/$SLURM_PROCID.db"
            "$KNEE" $LOAD --duration 9s --record "$own" &
            if [ $SLURM_PROCID = 2 ]; then
                until "$KNEE" record list --record "$own" 2>&1 | grep -q " [1-9]/9"; do sleep 0.1; done
                kill -9 $!
            fi
            wait $!'"#
    );
    let Some(together) = on_controller(&knee, &script) else { return };
    assert_eq!(together.code, Some(137), "srun's code is that of the killed rank: {together:?}");
    let (run, ranks) = ranks_in(&knee, &["--record", &push]);
    assert_eq!(ranks, [true, true, false], "{together:?}");
    assert_eq!(run.cells[0].key.parameters["ranks_missing"].text(), "1");
    assert_eq!(records(&knee), [1, 0, 1], "the result, and the share of the rank that was killed");
}
