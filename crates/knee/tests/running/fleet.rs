//! Runs that a launcher starts together: their fleet, and the machine that is unlike the others.

use crate::common::slurm::{may_unshare, on_controller};
use crate::common::{Came, Knee, came};
use archive::{Archive, SqliteArchive};
use fixtures::needed_program;
use model::{FleetMember, Run};

/// What each rank measures, quickly.
const MEASURE: &str =
    "run known --subjects linear,constant --points 16,32 --rounds 15 --time 1ms --quiet";

/// Starts three ranks by hydra, each a machine of its own as far as its name and its network say. The last one is slower
/// in one series.
fn three_machines(knee: &Knee, words: &str) -> Option<Came> {
    needed_program("mpiexec.hydra")?;
    if !may_unshare(&["--uts", "--net", "true"]) {
        return None;
    }
    let machine = "hostname node$PMI_RANK; \
        if [ $PMI_RANK = 2 ]; then export KNEE_KNOWN_SLOWER=linear=8; fi; exec \"$KNEE\" ";
    let script = format!("exec mpiexec.hydra -n 3 unshare --uts --net sh -c '{machine}{words}'");
    Some(came(&mut knee.shell(&script)))
}

fn runs(knee: &Knee) -> Vec<Run> {
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    let all = archive.runs().unwrap();
    all.iter().map(|run| archive.load(run.number).unwrap()).collect()
}

#[test]
fn three_ranks_of_hydra_are_one_fleet_and_the_slow_one_is_named() {
    let knee = Knee::new();
    let Some(started) = three_machines(&knee, MEASURE) else { return };
    assert_eq!(started.code, Some(0), "{started:?}");
    let mut all = runs(&knee);
    all.sort_by_key(|run| run.summary.fleet.as_ref().unwrap().rank);
    let id = all[0].summary.fleet.as_ref().unwrap().id.clone();
    assert!(id.starts_with("hydra-"), "{id}");
    for (rank, run) in (0..3).zip(&all) {
        let member = FleetMember { id: id.clone(), rank: Some(rank), size: Some(3) };
        assert_eq!(run.summary.fleet, Some(member));
        assert_eq!(run.summary.host, format!("node{rank}"));
    }
    let shown = knee.run(&["show", "--fleet", "last"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let text = shown.out.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(text.starts_with(&format!("{id} · 3 machines node2 is ")), "{text}");
    assert!(
        text.contains("times slower in ") && text.contains("median node0 node1 node2"),
        "{text}"
    );
    assert!(!text.contains("node0 is") && !text.contains("node1 is"), "{text}");
    let gated = knee.run(&["compare", "--fleet", "--fail-on", "slower"]);
    assert_eq!(gated.code, Some(3), "{gated:?}");
    assert!(gated.err.contains("node2"), "{}", gated.err);
    let json = knee.run(&["show", "--fleet", &id, "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value["fleet"]["outliers"][0]["run"], 3);
    assert_eq!(value["runs"].as_array().unwrap().len(), 4, "the median machine is the first");
    let page = knee.record().with_file_name("fleet.html");
    let page = page.to_str().unwrap();
    let written = knee.run(&["report", "--fleet", "last", "-o", page]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("node2 is ") && html.contains("median machine"));
    knee.assert_no_process_left();
}

/// The archive is another machine's: each rank measures into a record of its own, and pushes.
#[test]
#[cfg(feature = "postgres")]
fn three_machines_push_to_one_postgresql_which_shows_the_slow_one() {
    let knee = Knee::new();
    let Some(server) = crate::common::postgres::Postgres::new() else { return };
    let archive = server.url();
    let own = knee.directory.path().join("rank-").display().to_string();
    let words = format!("{MEASURE} --record {own}$PMI_RANK.db --push {archive}");
    let Some(started) = three_machines(&knee, &words) else { return };
    assert_eq!(started.code, Some(0), "{started:?}");
    assert!(!knee.record().exists(), "no rank has used the record that all would share");
    let gated = knee.run(&["compare", "--fleet", "--record", &archive, "--fail-on", "slower"]);
    assert_eq!(gated.code, Some(3), "{gated:?}");
    let text = gated.out.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(text.starts_with("hydra-") && text.contains(" · 3 machines node2 is "), "{text}");
    assert!(text.contains("median node0 node1 node2"), "{text}");
    assert!(!text.contains("node0 is") && !text.contains("node1 is"), "{text}");
    // The same start again is pushed once.
    let again = knee.run(&["record", "push", &archive, "--record", &format!("{own}1.db")]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.out.contains("1 run was there already"), "{again:?}");
}

/// hydra's proxy answers one program of a rank, and kills the other ranks if that says no goodbye.
#[test]
fn a_script_of_hydra_may_start_knee_twice() {
    let knee = Knee::new();
    if needed_program("mpiexec.hydra").is_none() {
        return;
    }
    let twice = format!("\"$KNEE\" {MEASURE} && \"$KNEE\" {MEASURE}");
    let started = came(&mut knee.shell(&format!("exec mpiexec.hydra -n 2 sh -c '{twice}'")));
    assert_eq!(started.code, Some(0), "{started:?}");
    let ids: std::collections::BTreeSet<String> =
        runs(&knee).into_iter().map(|run| run.summary.fleet.unwrap().id).collect();
    assert_eq!((runs(&knee).len(), ids.len()), (4, 2), "{ids:?}");
    for id in ids {
        let shown = knee.run(&["show", "--fleet", &id]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        assert!(shown.out.contains("2 machines") && !shown.out.contains("several runs"));
    }
}

#[test]
fn a_rank_without_a_run_is_named() {
    let knee = Knee::new();
    for rank in ["0", "2"] {
        let fleet = ["--fleet", "nightly", "--rank", rank, "--of", "4", "--host-name", rank];
        let words: Vec<&str> = MEASURE.split(' ').chain(fleet).collect();
        assert_eq!(knee.run(&words).code, Some(0));
    }
    let shown = knee.run(&["show", "--fleet", "night"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.starts_with("nightly · 2 machines of 4"), "{}", shown.out);
    assert!(shown.out.contains("Ranks 1 and 3 have no run here."), "{}", shown.out);
    assert!(shown.out.contains("With so few machines"), "{}", shown.out);
    let last = knee.run(&["show", "last@2", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&last.out).unwrap();
    assert_eq!(value["host_before"]["facts"]["fleet.rank"], 2, "the newest run of that host");
}

/// A machine on which a subject failed may be slower than the other, and the one in the middle has nothing of it.
#[test]
fn a_gate_of_a_fleet_passes_nothing_that_failed_on_a_machine() {
    let knee = Knee::new();
    for (rank, failing) in [("0", "true"), ("1", "false")] {
        let failing = format!("b={failing} {{n}} && echo v=1");
        let words = ["run", "command", "--command", "a=echo v=1 {n}", "--command", &failing];
        let fleet = ["--fleet", "nightly", "--rank", rank, "--of", "2", "--host-name", rank];
        let short = ["--points", "1,2", "--rounds", "6", "--time", "1ms", "--quiet"];
        knee.run(&[&words[..], &fleet, &short].concat());
    }
    let gate = ["compare", "--fleet", "nightly", "--fail-above", "900%"];
    let is_named = |came: &Came| came.err.contains("b only in new: the gate can't pass the others");
    let came = knee.run(&gate);
    assert!(came.code == Some(4) && is_named(&came), "{came:?}");
    let came = knee.run(&[&gate[..], &["--ignore-missing"]].concat());
    assert!(!is_named(&came), "{came:?}");
}

#[test]
fn a_launcher_with_a_bad_value_ends_before_anything_is_measured() {
    let knee = Knee::new();
    let words: Vec<&str> = MEASURE.split(' ').collect();
    let mut command = knee.command(&words);
    command.env("OMPI_COMM_WORLD_RANK", "3").env("OMPI_COMM_WORLD_SIZE", "3");
    let refused = came(command.env("PMIX_NAMESPACE", "7"));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert_eq!(refused.err, "knee: mpirun says rank 3 of 3; ranks are 0 to 2\n");
    let none = knee.run(&["show", "--fleet", "last"]);
    assert_eq!(none.code, Some(5), "{none:?}");
}

/// Real Slurm, where it is installed and this may make namespaces: a controller and three nodes.
#[test]
fn ranks_of_srun_are_one_fleet_and_the_slow_node_is_named() {
    let knee = Knee::new();
    let rank = format!(
        "if [ $SLURM_PROCID = 2 ]; then export KNEE_KNOWN_SLOWER=linear=8; fi; exec \"$KNEE\" {MEASURE}"
    );
    let script = format!("exec srun --nodes=3 sh -c '{rank}'");
    let Some(started) = on_controller(&knee, &script) else { return };
    assert_eq!(started.code, Some(0), "{started:?}");
    let members: Vec<FleetMember> =
        runs(&knee).into_iter().filter_map(|run| run.summary.fleet).collect();
    assert_eq!(members.len(), 3);
    assert!(members.iter().all(|member| member.id == "slurm-red-1.0" && member.size == Some(3)));
    let shown = knee.run(&["show", "--fleet", "last"]);
    let text = shown.out.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(text.starts_with("slurm-red-1.0 · 3 machines node2 is "), "{text}");
    assert!(!text.contains("node0 is") && !text.contains("node1 is"), "{text}");
}
