//! How a spot is measured here: the one place that decides it, for the command that is hinted and for
//! `--measure`.

use crate::commands::measure::run::flags::Run as RunFlags;
use crate::commands::read::advise::flags::Advise;
use crate::exit::Trouble;
use analysis::advise::Spot;
use engine::{About, Cell, Fit, Workload};
use findings::format::{count, record_flag, shell_word};
use model::{LimitCause, Parameters, Value};
use report::advice::Substitution;

pub const MEASURED_BY: &str = "pipetest";

/// What a server is most like: its descriptors are active in no order.
const SPREAD: &str = "random";
/// What fits more descriptors: other processes keep the write ends of all but the last pipes.
const SPREAD_OF_MORE: &str = "tail";

pub struct Measuring {
    pub flags: RunFlags,
    pub substitution: Option<Substitution>,
}

/// The run that measures `spot` and what lies between `ends`; or the largest spot that can be measured here.
pub fn measuring(ask: &Advise, spot: Spot, ends: [f64; 2]) -> Result<Measuring, Trouble> {
    engine::raise_descriptors_max();
    let workload = workload()?;
    let flags = |spread| run_flags(ask, spot, ends, spread);
    let Some(limit) = descriptor_limit(workload, &flags(SPREAD)) else {
        return Ok(Measuring { flags: flags(SPREAD), substitution: None });
    };
    match descriptor_limit(workload, &flags(SPREAD_OF_MORE)) {
        None => {
            let total = count(spot.total as u64);
            let substitution = Substitution {
                parameter: "spread".to_owned(),
                wanted: SPREAD.to_owned(),
                used: SPREAD_OF_MORE.to_owned(),
                because: format!("both ends of {total} pipes are too many: {}", limit.cause),
            };
            Ok(Measuring { flags: flags(SPREAD_OF_MORE), substitution: Some(substitution) })
        }
        Some(_) => Err(too_many(ask, spot, workload)),
    }
}

impl Measuring {
    pub fn command(&self) -> String {
        let words = words(&self.flags);
        let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
        words.join(" ") + &record_flag(self.flags.record_file.flag())
    }
}

pub fn words(flags: &RunFlags) -> Vec<String> {
    let mut words: Vec<String> = ["knee", "run", MEASURED_BY].map(String::from).to_vec();
    let pipes = flags.parameters.get("pipes").map(|values| ("pipes", texts(values)));
    let points = ("points", texts(&flags.points));
    let spread = flags.parameters.get("spread").map(|values| ("spread", texts(values)));
    for (name, values) in pipes.into_iter().chain([points]).chain(spread) {
        words.extend([format!("--{name}"), values.join(",")]);
    }
    if !flags.subjects.is_empty() {
        words.extend(["--subjects".to_owned(), flags.subjects.join(",")]);
    }
    words
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(Value::to_string).collect()
}

/// The error for it, with the largest spot of the same share of active ones that fits.
fn too_many(ask: &Advise, spot: Spot, workload: &dyn Workload) -> Trouble {
    let tail = |total: f64, active: f64| {
        let spot = Spot { total, active: active.round().max(1.0) };
        run_flags(ask, spot, [spot.active; 2], SPREAD_OF_MORE)
    };
    let share = spot.active / spot.total;
    // The fewer tokens, the more pipes fit: first as if one were active, then as many as of those.
    let first = descriptor_limit(workload, &tail(spot.total, 1.0))
        .map_or(spot.total, |limit| limit.max as f64);
    let limit = descriptor_limit(workload, &tail(spot.total, share * first));
    let Some(limit) = limit else {
        return Trouble::not_possible(format!("{} pipes are too many here", spot.total));
    };
    let flags = tail(limit.max as f64, share * limit.max as f64);
    let command = Measuring { flags, substitution: None }.command();
    let (total, max) = (count(spot.total as u64), count(limit.max));
    let remedy = if limit.remedy.is_empty() { "" } else { &format!(" ({})", limit.remedy) };
    Trouble::not_possible(format!(
        "{total} watched descriptors can't be measured here: {}, enough for {max}{remedy}; as many as fit, \
         with the same share of active ones: `{command}`",
        limit.cause
    ))
}

struct Limit {
    max: u64,
    cause: LimitCause,
    remedy: String,
}

fn descriptor_limit(workload: &dyn Workload, flags: &RunFlags) -> Option<Limit> {
    // The more tokens, the fewer pipes fit.
    let tokens = flags.points.iter().filter_map(Value::number).max().unwrap_or(1);
    match workload.fit(&cell(workload.about(), flags, tokens)) {
        Fit::Measure => None,
        Fit::AtMost { max, cause, remedy, .. } => Some(Limit { max, cause, remedy }),
        Fit::Leave { cause, remedy, .. } => Some(Limit { max: 1, cause, remedy }),
    }
}

/// One cell of a run, with the usual values of what its flags don't name.
fn cell(about: &About, flags: &RunFlags, tokens: u64) -> Cell {
    let usual = about.parameters.iter().filter_map(|parameter| {
        let typed = parameter.default.values(true).first()?;
        Some((parameter.name.to_owned(), parameter.read(typed)))
    });
    let named = flags.parameters.iter();
    let named = named.filter_map(|(name, values)| Some((name.clone(), values.first()?.clone())));
    let tokens = (about.axis().to_owned(), Value::Number(tokens));
    let parameters: Parameters = usual.chain(named).chain([tokens]).collect();
    Cell { parameters, ..Cell::default() }
}

fn workload() -> Result<&'static dyn Workload, Trouble> {
    workloads::find(MEASURED_BY).ok_or_else(|| Trouble::failed(format!("no {MEASURED_BY} here")))
}

/// The run that measures one spot: where a mean lies between two counts, both.
fn run_flags(ask: &Advise, spot: Spot, ends: [f64; 2], spread: &str) -> RunFlags {
    let parameter = |name: &str, value: Value| (name.to_owned(), vec![value]);
    let parameters =
        [parameter("pipes", Value::Number(spot.total as u64)), parameter("spread", spread.into())];
    RunFlags {
        workloads: vec![MEASURED_BY.into()],
        subjects: ask.mechanisms.clone(),
        points: counts(spot, ends),
        parameters: parameters.into(),
        record_file: ask.record_file.clone(),
        ..RunFlags::default()
    }
}

fn counts(spot: Spot, [low, high]: [f64; 2]) -> Vec<Value> {
    let all = [low.floor(), spot.active.floor(), spot.active.ceil(), high.ceil()];
    let count = |count: &f64| Value::Number(count.clamp(1.0, spot.total) as u64);
    let mut counts: Vec<Value> = all.iter().map(count).collect();
    counts.dedup();
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask() -> Advise {
        Advise {
            total: None,
            active: None,
            pid: None,
            profile: false,
            seconds: std::time::Duration::ZERO,
            mechanisms: vec!["poll".into(), "epoll-level".into()],
            measure: false,
            json: false,
            record_file: crate::commands::keep::record_file::RecordFile::default(),
        }
    }

    /// The most pipes that fit here with so many tokens.
    fn max(spread: &str, tokens: u64) -> u64 {
        engine::raise_descriptors_max();
        let spot = Spot { total: 1e9, active: tokens as f64 };
        let flags = run_flags(&ask(), spot, [spot.active; 2], spread);
        descriptor_limit(workload().unwrap(), &flags).unwrap().max
    }

    fn measured(total: u64, active: f64) -> Result<Measuring, Trouble> {
        measuring(&ask(), Spot { total: total as f64, active }, [active; 2])
    }

    #[test]
    fn what_fits_is_spread_at_random_and_nothing_is_substituted() {
        let measuring = measured(max(SPREAD, 50), 2.5).unwrap();
        assert_eq!(measuring.substitution, None);
        let wanted = format!(
            "knee run pipetest --pipes {} --points 2,3 --spread random --subjects poll,epoll-level",
            max(SPREAD, 50)
        );
        assert_eq!(measuring.command(), wanted);
    }

    #[test]
    fn a_record_with_a_space_in_its_name_is_quoted() {
        let record_file = crate::commands::keep::record_file::RecordFile::new("my lab.db");
        let ask = Advise { record_file, ..ask() };
        let spot = Spot { total: 10.0, active: 1.0 };
        let command = measuring(&ask, spot, [1.0; 2]).unwrap().command();
        assert!(command.ends_with(" --record 'my lab.db'"), "{command}");
    }

    #[test]
    fn what_fits_at_the_tail_only_names_the_substitution() {
        let total = max(SPREAD, 50) + 1;
        assert!(total <= max(SPREAD_OF_MORE, 50), "no limit lies between them here");
        let measuring = measured(total, 50.0).unwrap();
        assert!(
            measuring.command().contains("--points 50 --spread tail"),
            "{}",
            measuring.command()
        );
        let substitution = measuring.substitution.unwrap();
        assert_eq!((substitution.wanted.as_str(), substitution.used.as_str()), ("random", "tail"));
        assert!(substitution.because.contains("descriptors"), "{substitution:?}");
    }

    #[test]
    fn what_fits_nowhere_is_refused_with_the_most_that_fits() {
        let total = 4 * max(SPREAD_OF_MORE, 1);
        let line = measured(total, total as f64 / 100.0).err().unwrap().to_string();
        let command = line.split('`').nth(1).unwrap();
        assert!(command.contains("--spread tail"), "{line}");
        let word = |name: &str| {
            let mut words = command.split_whitespace();
            words.find(|word| *word == name).and(words.next()).unwrap().parse::<u64>().unwrap()
        };
        let (pipes, tokens) = (word("--pipes"), word("--points"));
        assert!(pipes <= max(SPREAD_OF_MORE, tokens), "what is hinted fits: {line}");
        assert!(line.contains("ulimit"), "{line}");
    }
}
