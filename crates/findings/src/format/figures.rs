//! How figures are written: one place, so that a table, a finding and a chart agree.

use super::ci;
use crate::finding::verdict::{of_class, of_trend};
use analysis::{Class, Estimate, Growth, RateTrend};
use model::Parameters;
use printable::{count, significant};

/// The word for an order of growth.
pub fn class(class: Class) -> &'static str {
    of_class(class).0.word
}

/// The word for what a rate does.
pub fn trend(trend: RateTrend) -> &'static str {
    of_trend(trend).0.word
}

/// Small numbers as words, for the head of a sentence: `three`, `12`.
pub fn number_word(number: usize) -> String {
    const WORDS: [&str; 10] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    WORDS.get(number).map_or_else(|| count(number as u64), |word| (*word).to_owned())
}

/// A growth factor: `×391`, `×1.04`; a dash where it began at nothing.
pub fn factor(factor: f64) -> String {
    if !factor.is_finite() {
        return "–".into();
    }
    format!("×{}", significant(factor))
}

/// How much of a rate is left, as what it is divided by: `÷8.60` for 0.116; `to 0` where nothing is.
pub fn divided(left: f64) -> String {
    match left {
        0.0 => "to 0".into(),
        _ if left.is_finite() => fall(1.0 / left),
        _ => "–".into(),
    }
}

/// By what a fall divides: `÷8.60`; a dash where nothing is left.
pub fn fall(times: f64) -> String {
    if !times.is_finite() {
        return "–".into();
    }
    format!("÷{}", significant(times))
}

/// What something is multiplied or divided by: `×1.80`, `÷1.39`.
pub(crate) fn change(by: f64) -> String {
    if by >= 1.0 { factor(by) } else { fall(1.0 / by) }
}

/// With a capital letter at its start.
pub fn capitalized(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// With a small letter at its start, to go on behind a colon.
pub fn uncapitalized(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// A place between the points of an axis: `4,720`, `826`, `13`, `3.4`, `9`. Whole numbers from ten on,
/// and no more than three digits that mean anything.
pub fn position(position: f64) -> String {
    if !position.is_finite() {
        return "–".into();
    }
    if position < 9.95 {
        return without_zeros(format!("{position:.1}"));
    }
    let unit = 10_f64.powf((position.log10().floor() - 2.0).max(0.0));
    count(((position / unit).round() * unit).round() as u64)
}

/// A place between two points, with the digits that tell it from both; none where it is within a thousandth of one.
pub fn position_between(at: f64, points: [f64; 2]) -> Option<String> {
    let off = points.into_iter().map(|point| (at - point).abs()).fold(f64::INFINITY, f64::min);
    let plain = position(at);
    if points.into_iter().all(|point| position(point) != plain) {
        return Some(plain);
    }
    let decimals = (-off.log10()).ceil().max(0.0) as usize;
    let text = if decimals > 0 { format!("{at:.decimals$}") } else { count(at.round() as u64) };
    (off > 1e-3 * at).then(|| without_zeros(text))
}

/// A share as a percentage: `83 %`, `7.7 %`, `0.13 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        return "–".into();
    }
    let decimals = match percent.abs() {
        p if p >= 9.95 || p <= 0.0 => 0,
        p => ((1.0 - p.log10().floor()) as usize).min(6),
    };
    format!("{} %", without_zeros(format!("{percent:.decimals$}")))
}

/// How many times a whole: `0.5`, `1.05`, `16`.
pub fn multiple(times: f64) -> String {
    without_zeros(significant(times))
}

/// So many of what an axis counts: `1 thread`, `16 threads`, `0.5 threads`, `1 copy`.
pub fn counted(number: &str, what: &str) -> String {
    if number == "1" { format!("1 {}", singular(what)) } else { format!("{number} {what}") }
}

/// What tells a series from those of the same subject: ` (wait, active = 10)` of a metric and the parameters that differ;
/// nothing where it has nothing of its own.
pub fn qualifiers(
    metric: Option<&str>,
    parameters: &Parameters,
    differs: impl Fn(&str) -> bool,
) -> String {
    let own = parameters.iter().filter(|(key, _)| differs(key));
    let own = own.map(|(key, value)| format!("{key} = {value}"));
    let parts: Vec<String> = metric.map(str::to_owned).into_iter().chain(own).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// One of several: `thread`, `copy`, `process`.
pub fn singular(several: &str) -> String {
    if let Some(stem) = several.strip_suffix("ies").filter(|stem| *stem != "ser") {
        return format!("{stem}y");
    }
    let long = ["sses", "xes", "tches", "nches", "rches", "shes"];
    let long = long.iter().any(|end| several.ends_with(end));
    several.strip_suffix(if long { "es" } else { "s" }).unwrap_or(several).to_owned()
}

/// How far a ratio is above 1, as a percentage that it does not exceed: `3 %` for 1.027.
pub fn at_most(ratio: f64) -> String {
    // A little less than it is, so that 1.02 is 2 % and not 3 %.
    let percent = ((ratio - 1.0) * 100.0 - 1e-9).ceil().max(1.0);
    format!("{} %", count(percent as u64))
}

fn without_zeros(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An exponent, to two decimals: `1.31`, `-0.01`, never `-0.00`.
pub fn exponent(exponent: f64) -> String {
    let text = format!("{exponent:.2}");
    if text == "-0.00" { "0.00".into() } else { text }
}

/// An exponent with its interval: `exponent 1.31, 95 % CI 1.24–1.39`, of the part of a figure that `part` names. An interval
/// wider than 1 says only that there is none: `exponent 1.35, too few figures for a CI`.
fn exponent_of_part(estimate: Estimate, part: &str) -> String {
    let Estimate { value, low, high } = estimate;
    let head = format!("exponent {}{part}", exponent(value));
    if high - low > 1.0 {
        return format!("{head}, too few figures for a CI");
    }
    format!("{head}, {}", ci(&exponent(low), &exponent(high)))
}

/// The exponent of a growth with its interval: of a large constant part it says that it is without that. None where the
/// figures are no power of the axis, such as a line from zero on, most of which may be its constant part.
pub fn exponent_of(growth: &Growth) -> Option<String> {
    let part = if growth.constant.is_some() { " without the constant part" } else { "" };
    let exponent = growth.exponent.filter(|_| growth.is_power())?;
    Some(exponent_of_part(exponent, part))
}

/// A ratio near 1: `0.98`.
pub fn ratio(ratio: f64) -> String {
    format!("{ratio:.2}")
}

/// A ratio of two series with its interval: `ratio 0.99, 95 % CI 0.97–1.02`; where that spans a factor of a thousand,
/// that it is undecided.
pub fn ratio_with_interval(estimate: Estimate) -> String {
    if estimate.high > 1e3 * estimate.low {
        return "their ratio is undecided".to_owned();
    }
    let [value, low, high] = [estimate.value, estimate.low, estimate.high].map(ratio);
    format!("ratio {value}, {}", ci(&low, &high))
}

/// A unit to show figures in.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Its symbol: `µs`.
    pub symbol: String,
    /// How many of the record's units make one of it: 1000 for µs.
    pub per: f64,
}

impl Unit {
    /// The unit for a whole table whose metric is recorded in `unit`. Nanoseconds become the largest
    /// of ns, µs, ms and s in which the middle one of `figures` is at least 1; so do rates (`…/s`) of
    /// single ones, thousands (`k …/s`) and millions (`M …/s`), these only where the least has a digit
    /// to show: rates span decades, and their readers like thousands. Bytes (`B`) become KiB, MiB or
    /// GiB; bytes a second (`B/s`) kB/s, MB/s or GB/s. Others stay.
    pub fn for_table(unit: &str, figures: &[f64]) -> Self {
        let mut finite: Vec<f64> = figures.iter().copied().filter(|f| f.is_finite()).collect();
        let middle = analysis::stats::quantiles::median_of(&mut finite).unwrap_or(1.0);
        let min = finite.iter().copied().fold(f64::INFINITY, f64::min);
        let fits = |(_, per): &(&str, f64)| middle.abs() >= *per;
        let shows = |(_, per): &(&str, f64)| middle >= *per && (*per < 1e6 || min >= per / 10.0);
        let scale: &[(&str, f64)] = match unit {
            "ns" => &[("s", 1e9), ("ms", 1e6), ("µs", 1e3)],
            "B/s" => &[("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)],
            "B" => &[("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0)],
            rate if rate.ends_with("/s") => {
                let fitting = [("M", 1e6), ("k", 1e3)].into_iter().find(shows);
                let (symbol, per) = fitting.map_or_else(
                    || (rate.to_owned(), 1.0),
                    |(many, per)| (format!("{many} {rate}"), per),
                );
                return Self { symbol, per };
            }
            _ => &[],
        };
        let (symbol, per) = scale.iter().copied().find(fits).unwrap_or((unit, 1.0));
        Self { symbol: symbol.to_owned(), per }
    }

    /// A figure in this unit, without the symbol: `12.2`.
    pub fn figure(&self, recorded: f64) -> String {
        significant(recorded / self.per)
    }

    /// A figure in this unit with the symbol: `12.2 µs`.
    pub fn with_symbol(&self, recorded: f64) -> String {
        format!("{} {}", self.figure(recorded), self.symbol)
    }
}

/// Points of an axis in a sentence: `100`, `100 and 1,000`, `100, 300 and 1,000`.
pub fn points<'a>(points: impl IntoIterator<Item = &'a u64>) -> String {
    list(points.into_iter().map(|&point| count(point)))
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: impl IntoIterator<Item: AsRef<str>>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.as_ref().to_owned()).collect();
    match items.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// What one of several modes is called, by its place from below: `lower`, `middle`, `uppermost`.
pub fn mode_rank(index: usize, count: usize) -> &'static str {
    const BETWEEN: [&str; 3] = ["second", "third", "fourth"];
    match (index, count) {
        (0, 2) => "lower",
        (1, 2) => "upper",
        (0, _) => "lowest",
        (last, count) if last + 1 == count => "uppermost",
        (1, 3) => "middle",
        (rank, _) => BETWEEN.get(rank - 1).copied().unwrap_or("next"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_named_from_below() {
        let names = |total| (0..total).map(|at| mode_rank(at, total)).collect::<Vec<_>>();
        assert_eq!(names(2), ["lower", "upper"]);
        assert_eq!(names(3), ["lowest", "middle", "uppermost"]);
        assert_eq!(names(4), ["lowest", "second", "third", "uppermost"]);
    }

    #[test]
    fn a_factor_has_its_sign() {
        assert_eq!(factor(390.8), "×391");
        assert_eq!(factor(1.04), "×1.04");
        assert_eq!(factor(f64::INFINITY), "–");
    }

    #[test]
    fn one_of_many_is_singular() {
        let texts = [("1", "threads"), ("2", "threads"), ("1", "copies"), ("0.5", "copies")];
        let texts = texts.map(|(number, what)| counted(number, what));
        assert_eq!(texts, ["1 thread", "2 threads", "1 copy", "0.5 copies"]);
    }

    #[test]
    fn places_and_shares_are_as_exact_as_they_are_known() {
        let positions = [
            (4723.4, "4,720"),
            (826.4, "826"),
            (12_345.0, "12,300"),
            (12.6, "13"),
            (9.96, "10"),
            (9.04, "9"),
            (3.44, "3.4"),
            (999.6, "1,000"),
            (f64::NAN, "–"),
        ];
        for (figure, text) in positions {
            assert_eq!(position(figure), text, "{figure}");
        }
        let between = [
            (1.04, [1.0, 2.0], Some("1.04")),
            (1.31, [1.0, 2.0], Some("1.3")),
            (1.0004, [1.0, 2.0], None),
            (1.99, [1.0, 2.0], Some("1.99")),
            (10_030.0, [10_000.0, 30_000.0], Some("10,030")),
            (10_300.0, [10_000.0, 30_000.0], Some("10,300")),
        ];
        for (figure, points, text) in between {
            assert_eq!(position_between(figure, points).as_deref(), text, "{figure}");
        }
        let shares = [
            (0.826, "83 %"),
            (0.0769, "7.7 %"),
            (0.0996, "10 %"),
            (0.00996, "1 %"),
            (0.0013, "0.13 %"),
            (1.0, "100 %"),
            (0.0, "0 %"),
            (f64::INFINITY, "–"),
        ];
        for (share, text) in shares {
            assert_eq!(percent(share), text, "{share}");
        }
        let multiples =
            [(0.5, "0.5"), (1.0, "1"), (1.049, "1.05"), (16.0, "16"), (2000.0, "2,000")];
        for (times, text) in multiples {
            assert_eq!(multiple(times), text);
        }
        assert_eq!([counted("1", "threads"), counted("2", "threads")], ["1 thread", "2 threads"]);
        assert_eq!(["processes", "copies", "caches"].map(singular), ["process", "copy", "cache"]);
        assert_eq!(
            (at_most(1.027), at_most(1.02), at_most(1.0)),
            ("3 %".into(), "2 %".into(), "1 %".into())
        );
    }

    #[test]
    fn exponents_have_no_negative_zero() {
        assert_eq!(exponent(-0.001), "0.00");
        let estimate = Estimate { value: 0.01, low: -0.012, high: 0.03 };
        assert_eq!(exponent_of_part(estimate, ""), "exponent 0.01, 95 % CI -0.01 to 0.03");
        let wide = Estimate { value: 1.35, low: -0.42, high: 3.12 };
        assert_eq!(exponent_of_part(wide, ""), "exponent 1.35, too few figures for a CI");
    }

    #[test]
    fn an_exponent_stands_only_where_it_makes_the_factor() {
        let stated = |class: Class, factor: f64, exponent: f64| {
            let around =
                |value: f64, by: f64| Estimate { value, low: value - by, high: value + by };
            let growth = Growth {
                class,
                classes: if class == Class::AtLeastLinear {
                    vec![Class::Linear]
                } else {
                    Vec::new()
                },
                factor: around(factor, 0.01 * factor),
                from: 10,
                to: 10_000,
                best: None,
                exponent: Some(around(exponent, 0.01)),
                constant: None,
                reason: None,
            };
            exponent_of(&growth).is_some()
        };
        assert!(stated(Class::Linear, 1_000.0, 1.0) && stated(Class::Linear, 350.0, 0.85));
        assert!(stated(Class::Grows, 1.74, 0.08) && stated(Class::Falls, 0.5, -0.1));
        assert!(!stated(Class::Grows, 1.96, 0.0), "it is flat, but for a step");
        assert!(!stated(Class::Falls, 0.6, 0.0));
        assert!(!stated(Class::AtLeastLinear, 1.62, 0.06), "most of it is constant");
    }

    #[test]
    fn a_table_has_one_unit() {
        let unit = Unit::for_table("ns", &[1880.0, 12_200.0, 4_571_000.0]);
        assert_eq!((unit.symbol.as_str(), unit.figure(4_571_000.0).as_str()), ("µs", "4,571"));
        assert_eq!(unit.with_symbol(1880.0), "1.88 µs");
        assert_eq!(Unit::for_table("ns", &[12.0]).symbol, "ns");
        assert_eq!(Unit::for_table("ns", &[]).symbol, "ns");
        assert_eq!(Unit::for_table("ns", &[2e9]).symbol, "s");
        let wide = Unit::for_table("tokens/s", &[12_000.0, 1.2e6, 1.7e6]);
        assert_eq!(wide.symbol, "k tokens/s");
        assert_eq!(Unit::for_table("tokens/s", &[0.4e6, 1.2e6, 1.7e6]).symbol, "M tokens/s");
        let rate = Unit::for_table("tokens/s", &[84_178.0, 236_435.0, 185_205.0]);
        assert_eq!(rate.with_symbol(236_435.19), "236 k tokens/s");
        assert_eq!(
            Unit::for_table("tokens/s", &[1_131_000.0]).with_symbol(1_131_000.0),
            "1.13 M tokens/s"
        );
        assert_eq!(Unit::for_table("calls/s", &[999.0]).with_symbol(999.0), "999 calls/s");
        let memory = Unit::for_table("B", &[900.0, 12_288.0, 40_960.0]);
        assert_eq!(memory.with_symbol(12_288.0), "12.0 KiB");
        assert_eq!(Unit::for_table("B", &[1000.0]).with_symbol(1000.0), "1,000 B");
        assert_eq!(Unit::for_table("B/s", &[2.9e9]).with_symbol(2.9e9), "2.90 GB/s");
        assert_eq!(Unit::for_table("B", &[3.0 * 1_048_576.0]).with_symbol(3_145_728.0), "3.00 MiB");
        assert_eq!(Unit::for_table("bytes", &[1e9]), Unit { symbol: "bytes".into(), per: 1.0 });
    }

    #[test]
    fn points_read_as_a_list() {
        assert_eq!(points(&[100]), "100");
        assert_eq!(points(&[100, 300, 1000]), "100, 300 and 1,000");
        assert_eq!(number_word(3), "three");
        assert_eq!(number_word(12), "12");
    }
}
