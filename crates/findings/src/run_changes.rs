//! What changed between two runs, in sentences.

pub mod contention;

use crate::finding::names::{Names, qualifier};
use crate::format::attributed;
use crate::format::{class, count, factor, interval, percent, significant, trend};
use crate::kinds::crossover::Crossover;
use crate::kinds::system_calls::calls_text;
use crate::kinds::words;
use analysis::compare::{
    CallsAt, Change, ChangeDetail, Comparison, Ratio, RunAttribution, Share, Unserved, Verdict,
};
use analysis::{Class, CutShort, DifferenceVerdict, Growth, Table};

/// `epoll-level is slower: ×1.10 (95 % CI 1.08–1.13), suffix at 9,000 watched descriptors.`
pub fn sentence(comparison: &Comparison, change: &Change) -> String {
    claim(comparison, change) + "."
}

/// The same without a full stop, for a title.
pub fn claim(comparison: &Comparison, change: &Change) -> String {
    let is_of = |table: &&Table| {
        table.workload == change.workload
            && table.parameters == change.parameters
            && table.metric.name == change.metric
    };
    let [base, new] = comparison.sources.each_ref().map(|tables| tables.iter().find(is_of));
    let (Some(base), Some(new)) = (base, new) else { return String::new() };
    let qualifier = qualifier(&comparison.sources[1], new);
    let names = Names::of_table(&change.subjects, new, qualifier);
    let of_base = Names::of_table(&change.subjects, base, String::new());
    let label = names.label(change.subjects.first().map_or("", String::as_str));
    let subject = format!("{label}{}", names.qualifier());
    let claim = match &change.detail {
        ChangeDetail::Series { ratio, most_at } => {
            let most_text = most_at.map(|point| format!(", most at {}", names.point(point)));
            let most_text = most_text.unwrap_or_default();
            format!("{subject} is {}: {}{most_text}", verdict(ratio), with_interval(ratio))
        }
        ChangeDetail::Contention(contended) => contention::sentence(&label.to_string(), contended),
        ChangeDetail::Points { points, ratio } => {
            let up_to = if points.len() == 1 { "" } else { "up to " };
            let (verdict, points) = (verdict(ratio), names.points(points));
            format!("{subject} is {verdict} at {points}: {up_to}{}", with_interval(ratio))
        }
        ChangeDetail::Medians { ratio } => {
            let (verdict, ratio) = (verdict(ratio), with_interval(ratio));
            let turns = if comparison.two_machines {
                "measuring both again tells which"
            } else {
                "turns tell which (`knee ab`)"
            };
            format!(
                "{subject} is {verdict} by its medians, {ratio}, but not by its best tenth: a part of its operations \
                 changed, or a neighbour disturbed one of the runs; {turns}"
            )
        }
        ChangeDetail::Growth { base, new } => {
            let (from, to) = (count(new.from), count(new.to));
            let axis = names.axis();
            let (base, new) = (growth(base), growth(new));
            format!("{subject} {new} from {from} to {to} {axis}; in base it {base}")
        }
        ChangeDetail::Trend { base, new } => {
            format!("{subject} {}; in base it {}", trend(*new), trend(*base))
        }
        ChangeDetail::Crossover { base: before, new: after } => {
            let now = crossover(&Crossover::new(new, after), &names);
            let then = crossover(&Crossover::new(base, before), &of_base);
            format!("{now}. In base: {then}")
        }
        ChangeDetail::ModesAppeared { modes } => {
            format!("{}. In base it has one", words(modes, &names)[0])
        }
        ChangeDetail::ModesVanished { modes } => {
            let of_base = Names::of_table(&change.subjects, base, names.qualifier().to_owned());
            format!("{subject} has one mode. In base: {}", words(modes, &of_base)[0])
        }
        ChangeDetail::Unavailable { reason } => {
            format!("{subject} is unavailable: {reason}; in base it was measured")
        }
        ChangeDetail::Available { reason } => {
            format!("{subject} is measured; in base it was unavailable: {reason}")
        }
        ChangeDetail::Failed { points, reason } => {
            let points = names.points(points);
            format!("{subject} failed at {points}: {reason}; in base it was measured")
        }
        ChangeDetail::Measured { points, reason } => {
            let points = names.points(points);
            format!("{subject} is measured at {points}; in base it failed: {reason}")
        }
        ChangeDetail::CutShort { short } => {
            format!("{subject} reaches {}; in base it came to the end", reached(short, &names))
        }
        ChangeDetail::Completed { short } => {
            format!("{subject} comes to the end; in base it reached {}", reached(short, &names))
        }
        ChangeDetail::Served { what, point, base, new } => {
            let at = names.point(*point);
            let all = match what {
                Unserved::Requests => "requests fail or have no reply",
                Unserved::Connections => "connections never get a reply",
                Unserved::Rounds => "rounds fail",
            };
            let (base, new) = (share(*base), share(*new));
            let open = change.direction.is_none().then_some(", which may be chance");
            format!("{subject} at {at}: {new} {all}; in base {base}{}", open.unwrap_or_default())
        }
    };
    let calls = change.calls.as_ref().map(|calls| calls_at(calls, new));
    let attributed = change.attribution.as_ref().map(|change| attributed_text(change, &names));
    claim + &calls.unwrap_or_default() + &attributed.unwrap_or_default()
}

/// `; 4 → 7 system calls/run at 100 n: futex +3`.
fn calls_at(calls: &CallsAt, table: &Table) -> String {
    let at = format!(" at {} {}", count(calls.point), table.axis);
    format!("; {}", calls_text(&calls.change, &at))
}

/// The crossover with its CI.
fn crossover(crossover: &Crossover, names: &Names<'_>) -> String {
    let texts = words(crossover, names).into_iter().filter(|text| !text.is_empty());
    texts.collect::<Vec<String>>().join(", ")
}

/// `. At 10,000 watched descriptors 97 % of the additional CPU time is in …`; nothing where nothing is attributed.
fn attributed_text(attribution: &RunAttribution, names: &Names<'_>) -> String {
    match attribution.difference.verdict {
        DifferenceVerdict::Added | DifferenceVerdict::Saved | DifferenceVerdict::Waiting { .. } => {
            let point = names.point(attribution.point);
            format!(". At {point}, {}", attributed::more(&attribution.difference))
        }
        _ => String::new(),
    }
}

/// `18,000 of 30,000 (60 %)`.
fn share(share: Share) -> String {
    let [part, all] = [share.count, share.all].map(count);
    let percent = share.share().filter(|share| *share > 0.0).map(percent);
    format!("{part} of {all}{}", percent.map(|text| format!(" ({text})")).unwrap_or_default())
}

/// `slower` or `faster`.
fn verdict(ratio: &Ratio) -> &'static str {
    if ratio.verdict == Verdict::Slower { "slower" } else { "faster" }
}

/// `×1.10 (95 % CI 1.08–1.13)`.
fn with_interval(ratio: &Ratio) -> String {
    format!("{}{}", factor(ratio.ratio.value), interval(ratio.ratio, significant))
}

/// `linear, ×36.2`.
fn growth(growth: &Growth) -> String {
    let be = if matches!(growth.class, Class::Grows | Class::Falls) { "" } else { "is " };
    format!("{be}{}, {}", class(growth.class), factor(growth.factor.value))
}

/// `1,000 of 3,000 processes: fork: Resource temporarily unavailable`.
fn reached(short: &CutShort, names: &Names<'_>) -> String {
    let (reached, planned) = (count(short.reached), count(short.planned));
    format!("{reached} of {planned} {}: {}", names.axis(), short.reason.cause())
}
