//! Two runs whose cells take turns: by workers of this knee, and by workers that are started through
//! other words, such as another environment, other CPUs or another knee.

use super::{Claim, record_path, run};
use crate::commands::run::flags::Run as Asked;
use crate::exit::{Trouble, complain, names_the_wrong_thing};
use crate::progress::Progress;
use ::record::{Archive, CellKey, Parameters, Plan, Run, SqliteArchive};
use engine::{Calibrated, Settings, Side, Starter, Stop};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The label that says how the workers of a run were started.
const WORKERS: &str = "workers";
/// What it says of workers of this knee.
const OWN: &str = "of this knee";

/// Measures what was asked for twice, cell by cell in turns: first by workers of this knee, then by
/// workers that are started through `with`.
///
/// `with` is words as a shell has them, at the end of which a knee is started: the last word where that
/// names one (`taskset -c 1 /old/knee`), else this knee (`env MALLOC_ARENA_MAX=1`). Runs that are not
/// wholly in the record come back with the number 0; why is said.
pub fn interleaved(asked: &Asked, with: &str, command: Vec<String>) -> Result<(Run, Run), Trouble> {
    let words = words_of(with)?;
    let stop = Stop::on_signals()
        .map_err(|error| Trouble::failed(format!("listening for signals: {error}")))?;
    engine::raise_descriptors_max();
    let file = record_path(&asked.record_file)?;
    let labels = labels(asked)?;
    if asked.budget.is_some() || asked.precision.is_some() {
        let what = "--interleave measures every round of both: leave out --budget and --precision";
        return Err(Trouble::usage(what));
    }
    let (plan, secrets) = run::planned_in_turns(asked)?;
    let mut settings = Settings::new(engine::calibrate(), stop);
    settings.secrets = secrets;
    let starter = Starter::through(words.clone());
    engine::try_out(&starter, &nothing(), "times", &settings)
        .map_err(|why| refused(with, &no_worker(&why, with)))?;
    same_workloads(&plan, with, &words)?;

    let mut base = begun(&plan, &labels, command.clone(), OWN, &settings.clock);
    let mut new =
        begun(&plan, &labels, command, &::record::without_user_info(with.trim()), &settings.clock);
    new.summary.version = version(&words).unwrap_or_else(|| "unknown".to_owned());
    base.plan.beside.clone_from(&new.summary.id);
    new.plan.beside.clone_from(&base.summary.id);
    let _claims = (Claim::new(&base.summary.id)?, Claim::new(&new.summary.id)?);
    let archives = kept(&file, [&mut base, &mut new])?;
    in_turns([&mut base, &mut new], archives, starter, &settings);
    if [&base, &new].iter().any(|run| run.cells.is_empty()) {
        return Err(Trouble::interrupted("interrupted before there was anything to compare"));
    }
    Ok((base, new))
}

/// Measures both and says what the record could not take.
fn in_turns(
    [base, new]: [&mut Run; 2],
    archives: Option<[SqliteArchive; 2]>,
    starter: Starter,
    settings: &Settings,
) {
    let mut progress = Progress::new(2 * base.plan.cells.len() as u64);
    let [mut one, mut other] = archives.map_or([None, None], |archives| archives.map(Some));
    let sides = [
        Side { run: &mut *base, archive: archive(&mut one), starter: Starter::own() },
        Side { run: &mut *new, archive: archive(&mut other), starter },
    ];
    let unsaved = engine::alternate(sides, settings, &mut progress);
    progress.done();
    for (side, unsaved) in ["base", "new run"].iter().zip(&unsaved) {
        let Some(unsaved) = unsaved else { continue };
        Trouble::failed(format!("the {side}: {}", run::lost(unsaved))).say();
        base.summary.number = 0;
        new.summary.number = 0;
    }
}

fn archive(archive: &mut Option<SqliteArchive>) -> Option<&mut dyn Archive> {
    archive.as_mut().map(|archive| archive as &mut dyn Archive)
}

/// The labels of both, to which comes how their workers were started.
fn labels(asked: &Asked) -> Result<BTreeMap<String, String>, Trouble> {
    let labels = run::labels::labels(&asked.labels)?;
    if labels.contains_key(WORKERS) {
        let what = format!("--label {WORKERS}: with --interleave it says how workers were started");
        return Err(Trouble::usage(format!("{what}; take another key")));
    }
    Ok(labels)
}

/// A run of `plan` that has no cells yet.
fn begun(
    plan: &Plan,
    labels: &BTreeMap<String, String>,
    command: Vec<String>,
    by: &str,
    clock: &Calibrated,
) -> Run {
    let version = env!("CARGO_PKG_VERSION");
    let mut run = engine::new_run(plan.clone(), command, version, clock);
    run.summary.labels.clone_from(labels);
    run.summary.labels.insert(WORKERS.to_owned(), by.to_owned());
    run
}

/// Begins both in the record. A file that is no record is refused before anything is measured; where
/// only the disk is in the way, they are measured and printed all the same.
fn kept(file: &Path, [base, new]: [&mut Run; 2]) -> Result<Option<[SqliteArchive; 2]>, Trouble> {
    let begun = || -> Result<_, ::record::Error> {
        let mut archives = [SqliteArchive::open(file)?, SqliteArchive::open(file)?];
        let numbers = [archives[0].begin(base)?, archives[1].begin(new)?];
        Ok((archives, numbers))
    };
    match begun() {
        Ok((archives, numbers)) => {
            [base.summary.number, new.summary.number] = numbers;
            Ok(Some(archives))
        }
        Err(error) if names_the_wrong_thing(&error) => Err(Trouble::usage(error.to_string())),
        Err(error) => {
            complain(&format!("knee: these runs will be printed but not recorded: {error}"));
            Ok(None)
        }
    }
}

/// The words that workers are started through, a knee at their end.
fn words_of(with: &str) -> Result<Vec<String>, Trouble> {
    let words = shlex::split(with).ok_or_else(|| refused(with, "a quote is not closed"))?;
    let Some(last) = words.last() else {
        return Err(refused(with, "name what workers are to be started through: 'env X=1'"));
    };
    if names_a_knee(last) {
        return Ok(words);
    }
    let this = this_knee().to_string_lossy().into_owned();
    Ok(words.into_iter().chain([this]).collect())
}

/// Whether a word is the name of a knee: `knee`, `/old/knee`, `./knee-0.1`; no flag, no assignment.
fn names_a_knee(word: &str) -> bool {
    let (folder, name) = word.rsplit_once('/').unwrap_or(("", word));
    let plain = |text: &str| !text.starts_with('-') && !text.contains('=');
    name.starts_with("knee") && plain(name) && (plain(folder) || word.starts_with(['/', '.']))
}

/// A path of this program that other programs can start, also when its file was replaced meanwhile.
fn this_knee() -> PathBuf {
    let running = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    let place = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino())).ok();
    let file = std::env::current_exe().ok();
    file.filter(|file| place(file).is_some() && place(file) == place(&running)).unwrap_or(running)
}

/// A cell of nothing.
fn nothing() -> CellKey {
    CellKey {
        workload: "null".to_owned(),
        subject: "empty".to_owned(),
        parameters: Parameters::new(),
        point: 1,
        round: 0,
    }
}

/// What a knee that is started through `words` prints, if it can be asked.
fn asked(words: &[String], more: &[&str]) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(rest).args(more).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Its version: `0.1.0`.
fn version(words: &[String]) -> Option<String> {
    let said = asked(words, &["--version"])?;
    said.split_whitespace().nth(1).map(ToOwned::to_owned)
}

/// The other knee measures the same by the names of the plan's workloads, as far as it tells.
fn same_workloads(plan: &Plan, with: &str, words: &[String]) -> Result<(), Trouble> {
    let told = asked(words, &["list", "workloads", "--json"]);
    let told: Option<serde_json::Value> = told.and_then(|text| serde_json::from_str(&text).ok());
    let Some(rows) = told.as_ref().and_then(|told| told["workloads"].as_array()) else {
        return Ok(());
    };
    for ours in &plan.workloads {
        let row = rows.iter().find(|row| row["name"] == ours.name.as_str());
        let Some(row) = row else {
            return Err(refused(with, &format!("the knee there has no workload {}", ours.name)));
        };
        // One that does not tell is older than this and measures its first version.
        let theirs = row["version"].as_u64().unwrap_or(1);
        if theirs != u64::from(ours.version) {
            let (name, version) = (&ours.name, ours.version);
            let what = format!(
                "the knee there measures {name} otherwise (version {theirs}, not {version})"
            );
            return Err(refused(with, &what));
        }
    }
    Ok(())
}

fn no_worker(why: &str, with: &str) -> String {
    if why.contains(engine::ORPHANED) {
        let what =
            "what it starts is no child of this knee: it has to become a knee, as `env` does";
        return what.to_owned();
    }
    let why = why.strip_prefix("no worker could be started: ").unwrap_or(why);
    let mut what = format!("no worker could be started through it: {why}");
    let last = shlex::split(with).and_then(|words| words.last().cloned()).unwrap_or_default();
    if last.contains('/') && !names_a_knee(&last) {
        what.push_str("; a knee at its end is known by a name that begins with knee");
    }
    what
}

fn refused(with: &str, why: &str) -> Trouble {
    Trouble::usage(format!("--interleave '{with}': {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knee_at_the_end_is_told_from_what_only_looks_like_one() {
        for knee in ["knee", "/old/knee", "./knee-0.1", "target/release/knee", "/a=b/knee"] {
            assert!(names_a_knee(knee), "{knee}");
        }
        for other in
            ["env", "X=/opt/knee", "knee=1", "--root=/x/knee", "1", "LD_PRELOAD=knee.so", ""]
        {
            assert!(!names_a_knee(other), "{other}");
        }
    }

    #[test]
    fn words_are_split_as_a_shell_does_and_end_in_a_knee() {
        let words = words_of("env 'A=b c' /old/knee").unwrap();
        assert_eq!(words, ["env", "A=b c", "/old/knee"]);
        let words = words_of(" taskset -c 1 ").unwrap();
        assert_eq!(words[..3], ["taskset", "-c", "1"]);
        assert_eq!(Path::new(&words[3]), std::env::current_exe().unwrap());
        for wrong in ["", "  ", "env 'X=1"] {
            assert!(
                words_of(wrong).unwrap_err().to_string().starts_with("--interleave '"),
                "{wrong}"
            );
        }
    }
}
