//! The words that terminal and page share: titles, parameters, reasons, the command to repeat.

use crate::figures::{Unit, factor, share, whole};
use analysis::{Analysis, Basis, Distribution, Lead, MissingFigure, Row, Table};
use findings::reasons;
use record::{
    FailureReason, MetricInfo, Outcome, Parameters, Ratio, Run, RunState, Value, WorkloadInfo,
};

/// The fixed words for an order of growth and for where a rate goes, and a list as a sentence has it.
pub(crate) use findings::format::{class, list};

/// Whether any row of a table has a verdict.
pub(crate) fn has_verdicts(table: &Table) -> bool {
    table.rows.iter().any(|row| row.growth.is_some() || row.rate.is_some())
}

/// How far the run came, in words.
pub(crate) fn state(state: RunState) -> &'static str {
    match state {
        RunState::Open => "not ended",
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
    }
}

/// What is varied and what is held: `1 active of N watched socketpairs · time-out 0`, `N tokens in
/// 1,000 pipes · spread tail`.
pub(crate) fn parameters(run: &Run, workload: &str, held: &Parameters) -> String {
    match run.plan.workloads.iter().find(|info| info.name == workload) {
        Some(info) => read(held, info),
        None => spelled(held, &[]).join(" · "),
    }
}

/// The parameter that is a ratio's other half is told with what grows; `object` names what the axis
/// counts; the others follow as they are.
pub(crate) fn read(held: &Parameters, info: &WorkloadInfo) -> String {
    let axis = info.axis.as_str();
    let counted = match (held.get("object"), axis.strip_suffix("descriptors")) {
        (Some(object), Some(before)) => format!("{before}{}", plural(&object.text())),
        _ => axis.to_owned(),
    };
    // Records of an older knee hold no ratio; their only one was this.
    let (part, whole, word) = match &info.ratio {
        Some(ratio) => (ratio.part.as_str(), ratio.whole.as_str(), ratio.word.as_str()),
        None => ("active", info.axis_parameter.as_str(), "active"),
    };
    // Where neither of the two grows, both are held, and told like the others.
    let beside = match info.axis_parameter.as_str() {
        axis if axis == part => whole,
        axis if axis == whole => part,
        _ => "",
    };
    let grows = match held.get(beside) {
        Some(held) if many(info).is_some() => multiplied(info, held),
        Some(held) if beside == whole => format!("N {counted} in {}", one(&value(held), whole)),
        Some(Value::Share(share)) if is_of(word) => {
            format!("N {counted}, {} % as many {part}", share.percent())
        }
        Some(Value::Share(share)) => format!("{} % {word} of N {counted}", share.percent()),
        Some(held) if part == word => format!("{} {word} of N {counted}", value(held)),
        Some(held) => format!("{} in N {counted}", one(&value(held), part)),
        None => format!("N {counted}"),
    };
    let mut told = vec![beside];
    if counted != axis {
        told.push("object");
    }
    let mut parts = vec![grows];
    parts.extend(spelled(held, &told));
    parts.join(" · ")
}

/// `1 token`, `2 tokens`.
pub(crate) fn one(value: &str, name: &str) -> String {
    match (value, name.strip_suffix('s')) {
        ("1", Some(single)) => format!("1 {single}"),
        _ => format!("{value} {name}"),
    }
}

/// The ratio of a workload, where it is told as a multiple.
pub(crate) fn many(info: &WorkloadInfo) -> Option<&Ratio> {
    info.ratio.as_ref().filter(|ratio| ratio.multiple)
}

/// What a multiple is of, in the plural: `CPUs` for `per CPU`.
pub(crate) fn wholes(ratio: &Ratio) -> String {
    plural(ratio.word.strip_prefix("per ").unwrap_or(&ratio.whole))
}

/// `N threads on 2 CPUs`, `4 threads on N CPUs`, `4 threads per CPU on N CPUs`: whichever half of the
/// ratio grows, and the `value` that the other one is held at.
fn multiplied(info: &WorkloadInfo, held: &Value) -> String {
    let Some(ratio) = many(info) else { return format!("N {}", info.axis) };
    let wholes = wholes(ratio);
    if info.axis_parameter == ratio.part {
        return format!("N {} on {}", info.axis, one(&value(held), &wholes));
    }
    match held {
        Value::Multiple(multiple) => {
            format!("{} {} on N {wholes}", one(&multiple.times(), &ratio.part), ratio.word)
        }
        _ => format!("{} on N {wholes}", one(&value(held), &ratio.part)),
    }
}

/// A place on the axis as a multiple, where its table tells them so: `1.2 per CPU`. Between points there
/// is one only where the part grows.
pub(crate) fn multiple_at(table: &Table, at: f64) -> Option<String> {
    let shares = table.shares.as_ref().filter(|shares| shares.multiple)?;
    let known = table.points.iter().position(|&point| (point as f64 - at).abs() < 1e-9);
    let value = match known {
        Some(index) => *shares.values.get(index)?,
        None if table.axis_parameter == shares.part => {
            *shares.values.first()? * at / *table.points.first()? as f64
        }
        None => return None,
    };
    value.is_finite().then(|| format!("{} {}", share(value, true), shares.word))
}

/// Whether the word for a ratio says only what it is a share of: `of pipes`, where another is
/// `active`.
pub(crate) fn is_of(word: &str) -> bool {
    word.starts_with("of ")
}

/// Parameters as names with values, but for those that are `told` already.
pub(crate) fn spelled(held: &Parameters, told: &[&str]) -> Vec<String> {
    let left = held.iter().filter(|(name, _)| !told.contains(&name.as_str()));
    left.map(|(name, held)| format!("{name} {}", value(held))).collect()
}

/// The value of a parameter: numbers with thousands separated, and percentages set apart.
fn value(held: &Value) -> String {
    match held {
        Value::Share(share) => format!("{} %", share.percent()),
        Value::Number(number) => whole(*number),
        other => other.to_string(),
    }
}

/// `socketpair` → `socketpairs`; what has a plural already, or more than one word, stays.
fn plural(object: &str) -> String {
    if object.contains(' ') { object.to_owned() } else { findings::format::plural(object) }
}

/// What one figure of the table is: `µs per write + wait + dispatch`, `k tokens/s`.
pub(crate) fn measure(table: &Table, unit: &Unit) -> String {
    measure_of(&table.metric, unit)
}

/// See [`measure`].
pub(crate) fn measure_of(metric: &MetricInfo, unit: &Unit) -> String {
    let sign = &unit.symbol;
    let about = if metric.about.is_empty() { &metric.name } else { &metric.about };
    if metric.unit == "ns" {
        format!("{sign} per {about}")
    } else if metric.unit.is_empty() {
        about.clone()
    } else if says_itself(metric) {
        sign.clone()
    } else {
        format!("{about} in {sign}")
    }
}

/// Whether the unit says already what is measured: `tokens/s` says it of token passes.
fn says_itself(metric: &MetricInfo) -> bool {
    let Some(counted) = metric.unit.strip_suffix("/s") else { return false };
    metric.about.is_empty() || metric.about.contains(counted.trim_end_matches('s'))
}

/// Whether it counts what is done in a second.
fn is_rate(metric: &MetricInfo) -> bool {
    metric.unit.ends_with("/s")
}

/// What one figure is, and what it stands on: `µs per wait · median of 5 rounds`.
pub(crate) fn measured(run: &Run, table: &Table, unit: &Unit) -> String {
    let (measure, medians) = (measure(table, unit), medians(run, table));
    if is_rate(&table.metric) {
        format!("{measure} ({medians})")
    } else {
        format!("{measure} · {medians}")
    }
}

/// What the medians of a table are of: `median of 5 rounds`; along a trajectory no two samples have
/// one place.
pub(crate) fn medians(run: &Run, table: &Table) -> String {
    let (least, most) = rounds_of(run, &table.workload);
    match (table.trajectory, most) {
        (false, _) => rounds_in_words(run, least, most),
        (true, 1) => "median of the samples near each place in 1 round".to_owned(),
        (true, _) if least < most => {
            format!("median of the samples near each place in {least} to {most} rounds")
        }
        (true, rounds) => format!("median of the samples near each place in {rounds} rounds"),
    }
}

/// How many rounds the medians of a run stand on: `median of 5 rounds`.
pub(crate) fn rounds(run: &Run) -> String {
    let each = run.plan.workloads.iter().map(|workload| rounds_of(run, &workload.name));
    let (least, most) = each.fold((u32::MAX, 0), |(a, b), of| (a.min(of.0), b.max(of.1)));
    rounds_in_words(run, least, most)
}

fn rounds_in_words(run: &Run, least: u32, most: u32) -> String {
    let told = rounds_counted(run, least, most);
    if analysis::is_predicted(run) { format!("predicted by a model, {told}") } else { told }
}

fn rounds_counted(run: &Run, least: u32, most: u32) -> String {
    match (least, most) {
        (_, 1) if is_foreign(run) => "single figures".to_owned(),
        (_, 1) => "median of 1 round".to_owned(),
        _ if least < most => format!("median of {least} to {most} rounds"),
        _ => format!("median of {most} rounds"),
    }
}

/// How many rounds the cells of a workload have, least and most: as many as were planned, or what a budget
/// made of them.
fn rounds_of(run: &Run, workload: &str) -> (u32, u32) {
    if run.plan.budget.is_some() {
        return analysis::trust::widths::rounds(run, Some(workload));
    }
    let cells = run.plan.cells.iter().filter(|cell| cell.workload == workload);
    let rounds = cells.map(|cell| cell.round + 1).max().unwrap_or(run.plan.rounds);
    (rounds, rounds)
}

/// How many cells were planned; of a run that a budget ended, how many there were to be in the end.
pub(crate) fn cells_planned(run: &Run) -> u64 {
    match run.summary.state {
        RunState::Complete => run.summary.cells_ended,
        RunState::Open | RunState::Interrupted => run.summary.cells_planned,
    }
}

/// Whether the figures were taken from somebody's table: then nothing is known of clock and machine.
pub(crate) fn is_foreign(run: &Run) -> bool {
    run.host_before.facts.is_empty() && run.clock.source.is_empty()
}

/// The file that the figures of a foreign run were read from.
pub(crate) fn source(run: &Run) -> Option<&str> {
    let words = &run.summary.command;
    if let [_, command, file, ..] = words.as_slice()
        && command == "import"
    {
        return Some(file);
    }
    let after = words.iter().skip_while(|word| *word != "--csv").nth(1);
    after.map(String::as_str).or_else(|| words.iter().find_map(|word| word.strip_prefix("--csv=")))
}

/// The unit in which a table is readable.
pub(crate) fn unit(table: &Table) -> Unit {
    let medians = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let medians: Vec<f64> = medians.map(|cell| cell.median.value).collect();
    Unit::for_table(&table.metric.unit, &medians)
}

/// The tables that are shown as such: of a workload that is told in averages, those are.
pub(crate) fn tables(analysis: &Analysis) -> impl Iterator<Item = &Table> {
    let told = |name: &str| analysis.averages.iter().any(|averages| averages.workload == name);
    analysis.tables.iter().filter(move |table| !told(&table.workload))
}

/// A time by itself, in the unit that suits it: what spans from nanoseconds to seconds has no common
/// one.
pub(crate) fn quantity(metric: &MetricInfo, recorded: f64) -> String {
    Unit::for_table(&metric.unit, &[recorded]).with_symbol(recorded).trim_end().to_owned()
}

/// The points of a table's distributions, each with what it is called: `4 threads (2 per CPU)`.
pub(crate) fn distributed(table: &Table) -> Vec<(u64, String)> {
    let mut points: Vec<u64> = table.distributions.iter().map(|of| of.point).collect();
    points.sort_unstable();
    points.dedup();
    let told = |point: u64| {
        let multiple = multiple_at(table, point as f64).map(|told| format!(" ({told})"));
        format!("{}{}", one(&whole(point), &table.axis), multiple.unwrap_or_default())
    };
    points.into_iter().map(|point| (point, told(point))).collect()
}

/// The place of a subject among all at a point of a table with rankings, and what is told of it besides:
/// `3 of 14`, `×7.1 behind byte-block`.
pub(crate) fn placed(table: &Table, point: u64, subject: &str) -> Option<(String, String)> {
    let ranking = table.rankings.iter().find(|ranking| ranking.point == point)?;
    let placed = ranking.subjects.iter().find(|placed| placed.subject == subject)?;
    let of = ranking.subjects.len() + ranking.unfinished.len();
    let label = |subject: &String| {
        let row = table.rows.iter().find(|row| row.subject == *subject);
        row.map_or(subject, |row| &row.label).clone()
    };
    let tied: Vec<String> = placed.tied.iter().map(label).collect();
    let first = ranking.subjects.first().filter(|first| first.subject != subject);
    let behind = first
        .map(|first| format!("{} behind {}", factor(placed.behind.value), label(&first.subject)));
    let close = match tied.len() {
        0 => None,
        1..=3 => Some(format!("too close to call with {}", list(&tied))),
        many => Some(format!("too close to call with {many} others")),
    };
    let more: Vec<String> = behind.into_iter().chain(close).collect();
    Some((format!("{} of {of}", placed.rank), more.join(", ")))
}

/// The heads of a table of distributions, and the figures of one as they stand under them.
pub(crate) const QUANTILES: [&str; 6] = ["p50", "p90", "p99", "p99.9", "longest", "operations"];

/// See [`QUANTILES`].
pub(crate) fn quantiles(metric: &MetricInfo, of: &Distribution) -> [String; 6] {
    let [p50, p90, p99, p99_9, max] =
        [of.p50, of.p90, of.p99, of.p99_9, of.max].map(|value| quantity(metric, value));
    [p50, p90, p99, p99_9, max, whole(of.count)]
}

/// Why the law of scaling does not apply to a row.
pub(crate) fn unscaled(row: &Row) -> Option<String> {
    let reason = reasons::scaling(row.scaling.as_ref()?.reason.as_ref()?);
    Some(format!("the Universal Scalability Law does not apply: {reason}"))
}

/// The rows as reports list them: those with figures first, each group in the workload's order.
pub(crate) fn rows(table: &Table) -> impl Iterator<Item = &Row> {
    let with = table.rows.iter().filter(|row| row.unavailable.is_none());
    with.chain(table.rows.iter().filter(|row| row.unavailable.is_some()))
}

/// How a figure is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The best, clearly.
    Best,
    /// One of those that lead together: too close to call among them, and others clearly behind.
    Shared,
}

/// More than so many are no leaders that a mark could help to see.
const LEADERS_MAX: usize = 4;

/// Whether so few share a lead that they are marked.
fn is_marked_as_shared(lead: &Lead) -> bool {
    lead.is_shared() && lead.tied.len() < LEADERS_MAX
}

/// How the figure of `subject` at one point of a table is marked; nobody is where all are too close
/// to call.
pub(crate) fn mark(table: &Table, column: usize, subject: &str) -> Option<Mark> {
    let lead = table.leads.get(column)?.as_ref()?;
    let leads = lead.best == subject || lead.tied.iter().any(|tied| tied == subject);
    if leads && lead.clear {
        Some(Mark::Best)
    } else {
        (leads && is_marked_as_shared(lead)).then_some(Mark::Shared)
    }
}

/// The word for the best by a metric: `fastest`.
pub(crate) fn superlative(metric: &MetricInfo) -> &'static str {
    if metric.unit == "ns" || is_rate(metric) { "fastest" } else { "best" }
}

/// What the marks of a table mean, with the `sign` of each; nothing where nobody was compared.
pub(crate) fn legend(table: &Table, sign: fn(Mark) -> char) -> Option<String> {
    let leads: Vec<&Lead> = table.leads.iter().flatten().collect();
    let (clear, shared) =
        (leads.iter().any(|l| l.clear), leads.iter().any(|l| is_marked_as_shared(l)));
    if leads.is_empty() {
        return None;
    }
    if !clear && !shared {
        return Some("Nobody is marked: every lead is too close to call".to_owned());
    }
    let best = superlative(&table.metric);
    let mut said = Vec::new();
    if clear {
        said.push(format!("{} the {best}", sign(Mark::Best)));
    }
    if shared {
        said.push(format!("{} among the {best}, too close to call", sign(Mark::Shared)));
    }
    if !shared || leads.iter().any(|lead| !lead.clear && !is_marked_as_shared(lead)) {
        said.push(if shared {
            format!("nobody is marked where more than {LEADERS_MAX}, or all, are")
        } else {
            "nobody is marked where the lead is too close to call".to_owned()
        });
    }
    Some(said.join("; "))
}

/// Who can't be measured here, those with one reason joined: their labels and the reason.
pub(crate) fn unavailable(table: &Table) -> Vec<(Vec<String>, &str)> {
    let mut groups: Vec<(Vec<String>, &str)> = Vec::new();
    for row in &table.rows {
        let Some(reason) = row.unavailable.as_deref() else { continue };
        match groups.iter_mut().find(|(_, known)| *known == reason) {
            Some((labels, _)) => labels.push(row.label.clone()),
            None => groups.push((vec![row.label.clone()], reason)),
        }
    }
    groups
}

/// Why a row has gaps, same reasons joined: `2,000 and 10,000: beyond FD_SETSIZE`. Of what lies beyond
/// the place where a series was cut short tells [`cut_short`].
pub(crate) fn missing(row: &Row) -> Vec<String> {
    let reached = row.short.as_ref().map_or(u64::MAX, |short| short.reached);
    let mut reasons: Vec<(&MissingFigure, Vec<u64>)> = Vec::new();
    for (point, reason) in row.missing.iter().filter(|(point, _)| *point <= reached) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, points)) => points.push(*point),
            None => reasons.push((reason, vec![*point])),
        }
    }
    let say = |(reason, points): (&MissingFigure, Vec<u64>)| {
        if points.len() > 1 && points.len() == row.cells.len() {
            return format!("all points: {reason}");
        }
        let points: Vec<String> = points.into_iter().map(whole).collect();
        format!("{}: {reason}", list(&points))
    };
    reasons.into_iter().map(say).collect()
}

/// Why there is no figure at a point, in one line.
pub(crate) fn gap(row: &Row, point: u64) -> Option<String> {
    let stated = row.missing.iter().find(|(missing, _)| *missing == point);
    let short = row.short.as_ref().filter(|short| short.reached < point);
    stated.map(|(_, gap)| gap.to_string()).or(short.map(|short| short.because.clone()))
}

/// What stands under a table of a series that ended before its axis did, without its name: `ended at
/// 6,000 of 10,000 processes: fork: Resource temporarily unavailable → ulimit -u 20000`.
pub(crate) fn cut_short(table: &Table, row: &Row) -> Option<String> {
    let short = row.short.as_ref()?;
    let (reached, planned) = (whole(short.reached), whole(short.planned));
    let remedy = &short.remedy;
    let arrow = if remedy.is_empty() { String::new() } else { format!(" → {remedy}") };
    Some(format!("ended at {reached} of {planned} {}: {}{arrow}", table.axis, short.because))
}

/// What is said where there are no findings: averages are compared by whoever reads them.
pub(crate) fn nothing_found(analysis: &Analysis) -> &'static str {
    if analysis.averages.is_empty() {
        "None: too little was measured."
    } else {
        "None: from averages of so few runs nothing is concluded."
    }
}

/// All that a reader has to know of a row: its note, why it is undecided, why it has gaps.
pub(crate) fn notes(row: &Row) -> Vec<String> {
    let note = (!row.note.is_empty()).then(|| row.note.clone());
    note.into_iter().chain(reasons(row)).collect()
}

/// Why a row is undecided, or its medians alone would leave it so, and why it has gaps.
pub(crate) fn reasons(row: &Row) -> Vec<String> {
    basis(row).into_iter().chain(missing(row)).collect()
}

/// Why a row is undecided, or what its order of growth was taken from if not from its medians.
pub(crate) fn basis(row: &Row) -> Option<String> {
    if let Some(reason) = row.rate.as_ref().and_then(|rate| rate.reason.as_ref()) {
        return Some(reasons::trend(reason));
    }
    let growth = row.growth.as_ref()?;
    let reason = growth.reason.as_ref()?;
    Some(match growth.basis {
        Basis::Medians => reasons::growth(reason),
        Basis::FastestTenth => "by the fastest tenth of its samples".into(),
    })
}

/// The rows' notes, each with the rows that it is about: `epoll-edge and sigio: edge-triggered, …`.
pub(crate) fn shared_notes(table: &Table) -> Vec<String> {
    let mut shared: Vec<(&str, Vec<String>)> = Vec::new();
    let with_figures = rows(table).filter(|row| row.unavailable.is_none());
    for row in with_figures.filter(|row| !row.note.is_empty()) {
        match shared.iter_mut().find(|(note, _)| *note == row.note) {
            Some((_, labels)) => labels.push(row.label.clone()),
            None => shared.push((&row.note, vec![row.label.clone()])),
        }
    }
    shared.into_iter().map(|(note, labels)| format!("{}: {note}", list(&labels))).collect()
}

/// A fact of the workload's, and its values, each with the points that it holds at: `10 to 100`.
/// What is nothing at every point is not worth telling.
pub(crate) fn facts(table: &Table) -> Vec<(&str, Vec<(String, String)>)> {
    let told = |fact: &&analysis::Fact| fact.values.iter().any(|(_, value)| value != "0");
    let by_value = |fact: &analysis::Fact| -> Vec<(String, String)> {
        let same = |a: &(u64, String), b: &(u64, String)| a.1 == b.1;
        let of_run = |run: &[(u64, String)]| {
            let (first, last) = (run[0].0, run[run.len() - 1].0);
            let points = if first == last {
                whole(first)
            } else {
                format!("{} to {}", whole(first), whole(last))
            };
            (points, run[0].1.clone())
        };
        fact.values.chunk_by(same).map(of_run).collect()
    };
    table.facts.iter().filter(told).map(|fact| (fact.name.as_str(), by_value(fact))).collect()
}

/// Cells that failed for the same reason.
pub(crate) struct FailedCells {
    /// `ppoll at 1,000 (2 cells): killed by signal 9`.
    pub text: String,
    /// What could be learnt about the first of them; may be empty.
    pub detail: String,
}

/// The failed cells of a run, those with one subject and reason joined, without those of controls.
pub(crate) fn failed(run: &Run) -> Vec<FailedCells> {
    type Group<'a> = (&'a str, &'a str, &'a FailureReason, &'a str, Vec<u64>, usize);
    let mut groups: Vec<Group> = Vec::new();
    for cell in run.cells.iter().filter(|cell| !run.is_control(&cell.key)) {
        let Outcome::Failed { reason, detail } = &cell.outcome else { continue };
        let (workload, subject) = (cell.key.workload.as_str(), cell.key.subject.as_str());
        let same = |group: &&mut Group| (group.0, group.1, group.2) == (workload, subject, reason);
        match groups.iter_mut().find(same) {
            Some(group) => {
                group.4.push(cell.key.point);
                group.5 += 1;
            }
            None => groups.push((workload, subject, reason, detail, vec![cell.key.point], 1)),
        }
    }
    let say = |(workload, subject, reason, detail, mut points, count): Group| {
        points.sort_unstable();
        points.dedup();
        let points: Vec<String> = points.into_iter().map(whole).collect();
        let cells = if count == 1 { "cell" } else { "cells" };
        let at = list(&points);
        let text = format!("{workload} · {subject} at {at} ({count} {cells}): {reason}");
        FailedCells { text, detail: detail.to_owned() }
    };
    groups.into_iter().map(say).collect()
}

/// What is said of a run that did not come to its end.
pub(crate) fn unfinished(run: &Run) -> Option<String> {
    let summary = &run.summary;
    (summary.state != RunState::Complete).then(|| {
        format!(
            "The run is {}: {} of {} cells ended. → knee run --resume",
            state(summary.state),
            whole(summary.cells_ended),
            whole(summary.cells_planned)
        )
    })
}

/// The command that measures the same again, in the same order, quoted for a shell.
pub(crate) fn command(run: &Run) -> String {
    let mut words: Vec<String> = run.summary.command.iter().map(|word| quoted(word)).collect();
    let has_seed =
        run.summary.command.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    // A table that was read gives the same figures in any order.
    if !has_seed && !is_foreign(run) {
        words.push(format!("--seed {}", run.plan.seed));
    }
    words.join(" ")
}

/// One word of a command line as a POSIX shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Ratio;

    fn given(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect()
    }

    fn growing(axis: &str, parameter: &str, ratio: Option<[&str; 3]>) -> WorkloadInfo {
        WorkloadInfo {
            axis: axis.to_owned(),
            axis_parameter: parameter.to_owned(),
            ratio: ratio.map(|[part, whole, word]| Ratio {
                part: part.to_owned(),
                whole: whole.to_owned(),
                word: word.to_owned(),
                ..Ratio::default()
            }),
            ..WorkloadInfo::default()
        }
    }

    #[test]
    fn parameters_read_as_a_sentence() {
        let held = given(&[("active", "1"), ("object", "socketpair"), ("timeout", "0")]);
        let poll = Some(["active", "watched", "active"]);
        for info in [
            growing("watched descriptors", "watched", poll),
            growing("watched descriptors", "", None),
        ] {
            assert_eq!(read(&held, &info), "1 active of N watched socketpairs · timeout 0");
        }
        let threads = growing("threads", "threads", None);
        assert_eq!(read(&given(&[]), &threads), "N threads");
        assert_eq!(read(&given(&[("object", "map")]), &threads), "N threads · object map");
    }

    #[test]
    fn either_half_of_a_ratio_may_grow() {
        let ratio = Some(["tokens", "pipes", "active"]);
        let (tokens, pipes) =
            (growing("tokens", "tokens", ratio), growing("pipes", "pipes", ratio));
        let spread = ("spread", "tail");
        let held = given(&[("pipes", "10000"), spread]);
        assert_eq!(read(&held, &tokens), "N tokens in 10,000 pipes · spread tail");
        let held = given(&[("tokens", "2500"), spread]);
        assert_eq!(read(&held, &pipes), "2,500 tokens in N pipes · spread tail");
        let held = given(&[("tokens", "10%"), spread]);
        assert_eq!(read(&held, &pipes), "10 % active of N pipes · spread tail");
        assert_eq!(read(&given(&[spread]), &tokens), "N tokens · spread tail");
        let pipes = growing("pipes", "pipes", Some(["tokens", "pipes", "of pipes"]));
        assert_eq!(read(&held, &pipes), "N pipes, 10 % as many tokens · spread tail");
        assert_eq!(read(&given(&[("tokens", "1")]), &pipes), "1 token in N pipes");
    }

    #[test]
    fn a_multiple_is_told_of_whichever_half_grows() {
        let per_cpu = |axis: &str, parameter: &str| {
            let mut info = growing(axis, parameter, Some(["threads", "cpus", "per CPU"]));
            info.ratio.as_mut().expect("a ratio").multiple = true;
            info
        };
        let held = |cpus: &str| given(&[("cpus", cpus), ("mode", "time")]);
        let threads = per_cpu("threads", "threads");
        assert_eq!(read(&held("2"), &threads), "N threads on 2 CPUs · mode time");
        assert_eq!(read(&held("1"), &threads), "N threads on 1 CPU · mode time");
        let cpus = per_cpu("CPUs", "cpus");
        assert_eq!(read(&given(&[("threads", "4x")]), &cpus), "4 threads per CPU on N CPUs");
        assert_eq!(read(&given(&[("threads", "1")]), &cpus), "1 thread on N CPUs");
        let held_for = per_cpu("ns held", "held");
        let both = given(&[("cpus", "2"), ("threads", "4")]);
        assert_eq!(read(&both, &held_for), "N ns held · cpus 2 · threads 4");
    }

    #[test]
    fn where_something_else_grows_both_halves_are_held() {
        let ratio = Some(["tokens", "pipes", "of pipes"]);
        let generations = growing("generations", "generations", ratio);
        let held = given(&[("pipes", "1000"), ("tokens", "10%")]);
        assert_eq!(read(&held, &generations), "N generations · pipes 1,000 · tokens 10 %");
    }

    #[test]
    fn a_unit_that_says_what_is_measured_stands_alone() {
        let said = |about: &str, unit: &str| {
            says_itself(&MetricInfo {
                name: "rate".to_owned(),
                about: about.to_owned(),
                unit: unit.to_owned(),
                lower_is_better: false,
                role: None,
            })
        };
        assert!(said("token passes", "tokens/s") && said("tokens/s", "tokens/s"));
        assert!(said("", "replies/s") && !said("wakes", "tokens/s") && !said("tokens", "tokens"));
    }

    #[test]
    fn a_command_survives_the_shell() {
        assert_eq!(quoted("--points=10,100"), "--points=10,100");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn lists_end_in_and() {
        let items = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&items), "a, b and c");
        assert_eq!(list(&items[..2]), "a and b");
        assert_eq!(list(&items[..1]), "a");
    }
}
