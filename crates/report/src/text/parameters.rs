//! Parameters as text: which one grows, which ones are fixed, and the ratio of two of them.

use analysis::Table;
use findings::Finding;
use findings::format::{count, counted, multiple};
use model::{Parameters, Ratio, Run, Value, WorkloadInfo};

/// A workload and its fixed parameters, of those that have an effect: `poll · active 1 · object socketpair`.
pub(crate) fn scope(run: &Run, workload: &str, fixed: &Parameters) -> String {
    let mut parts = vec![workload.to_owned()];
    parts.extend(pairs(&run.plan.effective(workload, fixed)));
    parts.join(" · ")
}

/// Findings in parts under what they hold for: `poll · active 1`; nothing where that is the same for all.
pub(crate) fn scoped<'f>(
    run: &Run,
    findings: &'f [&'f Finding],
) -> Vec<(String, &'f [&'f Finding])> {
    let alike =
        |a: &&Finding, b: &&Finding| (&a.workload, &a.parameters) == (&b.workload, &b.parameters);
    let parts: Vec<&[&Finding]> = findings.chunk_by(alike).collect();
    let is_single = parts.len() < 2;
    let named = |part: &'f [&'f Finding]| {
        let name = || scope(run, &part[0].workload, &part[0].parameters);
        (if is_single { String::new() } else { name() }, part)
    };
    parts.into_iter().map(named).collect()
}

/// What grows and what is fixed: `1 active of N watched socketpairs · timeout 0`, `N tokens in 1,000
/// pipes · spread tail`.
pub(crate) fn with_axis(run: &Run, workload: &str, fixed: &Parameters) -> String {
    match run.plan.workload(workload) {
        Some(info) => with_axis_of(info, fixed),
        None => pairs(fixed).collect::<Vec<_>>().join(" · "),
    }
}

/// The same for a known workload. The fixed half of a ratio stands with the axis; `object` names what the
/// axis counts; the other parameters that have an effect follow.
pub(crate) fn with_axis_of(info: &WorkloadInfo, fixed: &Parameters) -> String {
    let fixed = &info.effective(fixed);
    let axis = info.axis_with(fixed);
    let axis = axis.as_str();
    let objects = match (fixed.get("object"), axis.strip_suffix("descriptors")) {
        (Some(object), Some(start)) => format!("{start}{}", plural(&object.text())),
        _ => axis.to_owned(),
    };
    // Where neither half grows, both are listed like the other parameters.
    let fixed_half = info.ratio.as_ref().and_then(|ratio| {
        let half = match &info.axis_parameter {
            axis if *axis == ratio.part => &ratio.whole,
            axis if *axis == ratio.whole => &ratio.part,
            _ => return None,
        };
        Some((ratio, half, fixed.get(half)?))
    });
    let first = match fixed_half {
        // The word `n` of a command of the user's own.
        None if objects == "n" => objects.clone(),
        None => format!("N {objects}"),
        Some((ratio, _, value)) if ratio.multiple => per_whole(info, axis, ratio, value),
        Some((Ratio { whole, .. }, half, value)) if half == whole => {
            format!("N {objects} in {}", counted(&text(value), whole))
        }
        Some((Ratio { part, word, .. }, _, value)) => match value {
            Value::Share(share) if is_share_of(word) => {
                format!("N {objects}, {} % as many {part}", share.percent())
            }
            Value::Share(share) => format!("{} % {word} of N {objects}", share.percent()),
            _ if part == word => format!("{} {word} of N {objects}", text(value)),
            _ => format!("{} in N {objects}", counted(&text(value), part)),
        },
    };
    let is_written = |name: &str| {
        let is_half = fixed_half.is_some_and(|(_, half, _)| half == name);
        is_half || (name == "object" && objects != axis)
    };
    let rest = fixed.iter().filter(|(name, _)| !is_written(name)).map(pair);
    std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" · ")
}

/// The workload of a table, what grows in it, and what is fixed: `poll · 1 active of N watched socketpairs`.
pub(crate) fn of_table(run: &Run, table: &Table) -> String {
    let Table { workload, parameters, .. } = table;
    format!("{workload} · {}", with_axis(run, workload, parameters))
}

/// Parameters as names with values: `active 1`, `object pipe`.
pub(crate) fn pairs(parameters: &Parameters) -> impl Iterator<Item = String> {
    parameters.iter().map(pair)
}

/// `active 1`; a unit at the end of the name stands behind the value: `interval 500 ms`.
fn pair((name, value): (&String, &Value)) -> String {
    let is_number = value.to_string().parse::<f64>().is_ok();
    match name.strip_suffix("_ms").filter(|_| is_number) {
        Some(name) => format!("{name} {} ms", text(value)),
        None => format!("{name} {}", text(value)),
    }
}

/// The ratio of a workload, where it is a multiple and not a share.
pub(crate) fn multiple_ratio(info: &WorkloadInfo) -> Option<&Ratio> {
    info.ratio.as_ref().filter(|ratio| ratio.multiple)
}

/// What a multiple is a multiple of: `CPUs` for `per CPU`.
pub(crate) fn whole_plural(ratio: &Ratio) -> String {
    plural(ratio.word.strip_prefix("per ").unwrap_or(&ratio.whole))
}

/// `N threads on 2 CPUs`, `4 threads on N CPUs`, `4 threads per CPU on N CPUs`: one half of the ratio
/// grows, the other is fixed at `value`.
fn per_whole(info: &WorkloadInfo, axis: &str, ratio: &Ratio, value: &Value) -> String {
    let wholes = whole_plural(ratio);
    if info.axis_parameter == ratio.part {
        return format!("N {axis} on {}", counted(&text(value), &wholes));
    }
    match value {
        Value::Multiple(multiple) => {
            format!("{} {} on N {wholes}", counted(&multiple.times(), &ratio.part), ratio.word)
        }
        _ => format!("{} on N {wholes}", counted(&text(value), &ratio.part)),
    }
}

/// A point as a multiple, in a table with multiples: `1.2 per CPU`.
pub(crate) fn multiple_at(table: &Table, point: u64) -> Option<String> {
    let shares = table.shares.as_ref().filter(|shares| shares.multiple)?;
    let column = table.points.iter().position(|listed| *listed == point)?;
    let value = shares.values.get(column).filter(|value| value.is_finite())?;
    Some(format!("{} {}", multiple(*value), shares.word))
}

/// [`multiple_at`] in brackets, to stand behind a point: ` (1.2 per CPU)`; else nothing.
pub(crate) fn multiple_suffix(table: &Table, point: u64) -> String {
    multiple_at(table, point).map(|multiple| format!(" ({multiple})")).unwrap_or_default()
}

/// Whether the word of a ratio names only the whole: `of pipes`, and not `active`.
pub(crate) fn is_share_of(word: &str) -> bool {
    word.starts_with("of ")
}

/// A value with thousands separated and percentages set apart.
fn text(value: &Value) -> String {
    match value {
        Value::Share(share) => format!("{} %", share.percent()),
        Value::Number(number) => count(*number),
        value => value.to_string(),
    }
}

/// `socketpair` → `socketpairs`; plurals and several words stay.
fn plural(object: &str) -> String {
    if object.contains(' ') { object.to_owned() } else { findings::format::plural(object) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(pairs: &[(&str, &str)]) -> Parameters {
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

    fn per_cpu(axis: &str, parameter: &str) -> WorkloadInfo {
        let mut info = growing(axis, parameter, Some(["threads", "cpus", "per CPU"]));
        info.ratio.as_mut().expect("a ratio").multiple = true;
        info
    }

    #[test]
    fn a_parameter_without_an_effect_is_left_out() {
        let info = fixtures::workload("build")
            .axis("CPUs", "cpus")
            .only_with("files", "tree", &["generated"])
            .build();
        let title = |tree: &str| with_axis_of(&info, &fixed(&[("files", "48"), ("tree", tree)]));
        assert_eq!(title("generated"), "N CPUs · files 48 · tree generated");
        assert_eq!(title("/usr/src/linux"), "N CPUs · tree /usr/src/linux");
        assert_eq!(
            with_axis_of(&info, &fixed(&[("files", "48")])),
            "N CPUs · files 48",
            "the other one is the axis"
        );
        let run = fixtures::run(info).complete();
        let scope = |tree: &str| scope(&run, "build", &fixed(&[("files", "48"), ("tree", tree)]));
        assert_eq!(scope("/usr/src/linux"), "build · tree /usr/src/linux");
        assert_eq!(scope("generated"), "build · files 48 · tree generated");
    }

    type Case<'a> = (WorkloadInfo, &'a [(&'a str, &'a str)], &'a str);

    #[test]
    fn the_axis_and_its_ratio_come_first() {
        let active = Some(["active", "watched", "active"]);
        let tokens = Some(["tokens", "pipes", "active"]);
        let of_pipes = Some(["tokens", "pipes", "of pipes"]);
        let poll = [("active", "1"), ("object", "socketpair"), ("timeout", "0")];
        let spread = ("spread", "tail");
        let cases: &[Case<'_>] = &[
            (
                growing("watched descriptors", "watched", active),
                &poll,
                "1 active of N watched socketpairs · timeout 0",
            ),
            (
                growing("watched descriptors", "watched", active),
                &[("active", "10%"), ("object", "pipe")],
                "10 % active of N watched pipes",
            ),
            (
                growing("watched descriptors", "watched", None),
                &[("active", "1"), ("object", "pipe")],
                "N watched pipes · active 1",
            ),
            (growing("threads", "threads", None), &[], "N threads"),
            (
                growing("connections", "", None),
                &[("think_ms", "1.5")],
                "N connections · think 1.5 ms",
            ),
            (growing("threads", "threads", None), &[("object", "map")], "N threads · object map"),
            (
                growing("tokens", "tokens", tokens),
                &[("pipes", "10000"), spread],
                "N tokens in 10,000 pipes · spread tail",
            ),
            (
                growing("pipes", "pipes", tokens),
                &[("tokens", "2500"), spread],
                "2,500 tokens in N pipes · spread tail",
            ),
            (
                growing("pipes", "pipes", tokens),
                &[("tokens", "10%"), spread],
                "10 % active of N pipes · spread tail",
            ),
            (growing("tokens", "tokens", tokens), &[spread], "N tokens · spread tail"),
            (
                growing("pipes", "pipes", of_pipes),
                &[("tokens", "10%"), spread],
                "N pipes, 10 % as many tokens · spread tail",
            ),
            (growing("pipes", "pipes", of_pipes), &[("tokens", "1")], "1 token in N pipes"),
            (
                growing("generations", "generations", of_pipes),
                &[("pipes", "1000"), ("tokens", "10%")],
                "N generations · pipes 1,000 · tokens 10 %",
            ),
            (
                per_cpu("threads", "threads"),
                &[("cpus", "2"), ("mode", "time")],
                "N threads on 2 CPUs · mode time",
            ),
            (per_cpu("threads", "threads"), &[("cpus", "1")], "N threads on 1 CPU"),
            (per_cpu("CPUs", "cpus"), &[("threads", "4x")], "4 threads per CPU on N CPUs"),
            (per_cpu("CPUs", "cpus"), &[("threads", "1")], "1 thread on N CPUs"),
            (
                per_cpu("ns held", "held"),
                &[("cpus", "2"), ("threads", "4")],
                "N ns held · cpus 2 · threads 4",
            ),
        ];
        for (info, pairs, text) in cases {
            assert_eq!(with_axis_of(info, &fixed(pairs)), *text);
        }
    }
}
