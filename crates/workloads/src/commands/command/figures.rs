//! Figures that a command prints, as metrics.

use super::token::token;
use super::{ABOUT, counters};
use engine::{Custom, Failure, MetricInfo, MetricRole, PrintedFigure, Ran};
use quantities::{Figure as Printed, FigureError, Unit};
use regex_lite::Regex;

/// A figure that a command prints: its last match counts.
#[derive(Debug)]
pub(super) struct Figure {
    name: String,
    /// The unit of a number that is printed without one.
    printed: Unit,
    /// The unit of its samples.
    unit: Unit,
    lower_is_better: bool,
    direction_assumed: bool,
    pattern: Regex,
}

/// The figures of all commands.
///
/// # Errors
/// With one line, where a name is taken or a pattern is wrong.
pub(super) fn figures(custom: &Custom) -> Result<Vec<Figure>, String> {
    let counted = counters::metrics();
    let mut names: Vec<&str> =
        ABOUT.info.metrics.iter().chain(&counted).map(|metric| metric.name.as_str()).collect();
    for figure in &custom.figures {
        if names.contains(&figure.name.as_str()) {
            return Err(format!(
                "--extract {}: there is a metric of that name already",
                figure.name
            ));
        }
        names.push(&figure.name);
    }
    custom.figures.iter().map(Figure::new).collect()
}

impl Figure {
    fn new(printed: &PrintedFigure) -> Result<Figure, String> {
        let PrintedFigure { name, unit, pattern, lower_is_better, direction_assumed } = printed;
        let wrong = |what: &str| format!("--extract {name}: `{pattern}` {what}");
        let pattern = Regex::new(&format!("(?m){pattern}"))
            .map_err(|error| wrong(&format!("is no regular expression: {error}")))?;
        if pattern.captures_len() < 2 {
            return Err(wrong("has no group: round brackets stand around the figure"));
        }
        let printed = Unit::read(unit);
        // Reports know times and bytes.
        let is_known = ["ns", "B"].contains(&printed.base().as_str());
        Ok(Figure {
            name: name.clone(),
            unit: if is_known { printed.in_base() } else { printed.clone() },
            printed,
            lower_is_better: *lower_is_better,
            direction_assumed: *direction_assumed,
            pattern,
        })
    }

    /// The metric.
    pub fn metric(&self) -> MetricInfo {
        let about = match (self.unit.symbol(), self.lower_is_better) {
            ("ns", true) => "run, as it printed".to_owned(),
            _ => format!("{} as printed", self.name),
        };
        MetricInfo {
            name: self.name.clone(),
            about,
            unit: self.unit.symbol().into(),
            lower_is_better: self.lower_is_better,
            direction_assumed: self.direction_assumed,
            role: MetricRole::Plain,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many operations a run of this time had, where this is their rate and that makes at least one. A byte is none.
    pub fn operations(&self, printed: f64, elapsed_ns: f64) -> Option<u64> {
        let operations = (printed * self.unit.scale() * elapsed_ns / 1e9).round();
        let is_rate = self.unit.is_rate() && !self.unit.is_data();
        (is_rate && operations >= 1.0).then_some(operations as u64)
    }

    /// The figure that a run printed, whole: on standard output, or else on standard error.
    pub fn find(&self, ran: &Ran) -> Result<f64, Failure> {
        let last = |text| {
            let group = self.pattern.captures_iter(text).last()?.get(1)?;
            Some((text, group.range()))
        };
        let wrong = |what: String| {
            Failure::new(format!("{what} (--extract {}, pattern `{}`)", self.name, self.pattern))
        };
        let printed = last(&ran.output).or_else(|| last(&ran.errors));
        let (text, group) = printed.ok_or_else(|| wrong("it printed no such figure".to_owned()))?;
        let part = &text[group.clone()];
        let token = token(text, group, &self.printed);
        // A comma outside of the group may separate fields.
        if token.contains(',') && !part.contains(',') {
            return Err(wrong(format!(
                "the pattern takes `{}` of `{token}`; let the group take all of it, or print the figure apart",
                part.trim()
            )));
        }
        let figure = Printed::read_alone(token).and_then(|figure| figure.in_unit(&self.printed));
        match figure.map(|figure| figure * self.printed.scale() / self.unit.scale()) {
            Ok(figure) if figure < 0.0 => Err(wrong(format!(
                "`{token}` is below zero: figures are compared by their factors, and a negative one has none"
            ))),
            Ok(figure) => Ok(figure),
            Err(error) => Err(wrong(format!("`{token}` {error}{}", self.remedy(&error)))),
        }
    }

    /// What helps against a figure that is not read.
    fn remedy(&self, error: &FigureError) -> String {
        match error {
            FigureError::OtherUnit { unit, wanted } if wanted.is_empty() => {
                format!("; name its unit: --extract '{}[{unit}]=…'", self.name)
            }
            FigureError::TwoReadings { .. } => {
                "; print it without a comma, such as through `| tr -d ,`".to_owned()
            }
            FigureError::Multiple { .. } => "; print it in full".to_owned(),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::RunEnd;

    fn printed(name: &str, unit: &str, pattern: &str) -> PrintedFigure {
        let [name, unit, pattern] = [name, unit, pattern].map(str::to_owned);
        PrintedFigure { name, unit, pattern, ..PrintedFigure::default() }
    }

    fn figure(figure: &PrintedFigure, output: &str, errors: &str) -> Result<f64, Failure> {
        let (output, errors) = (output.into(), errors.into());
        let ran = Ran { end: RunEnd::Exited(0), output, errors, ..Ran::default() };
        Figure::new(figure).unwrap().find(&ran)
    }

    #[test]
    fn the_last_match_counts_on_output_before_errors() {
        let ops = printed("ops", "ops/s", "([0-9.,e+]+) ops/s$");
        assert_eq!(figure(&ops, "1 ops/s\n2,500.5 ops/s\nend", "7 ops/s"), Ok(2_500.5));
        assert_eq!(figure(&ops, "nothing", "1e6 ops/s"), Ok(1e6));
        let failure = figure(&ops, "nothing", "").unwrap_err().to_string();
        assert!(
            failure.contains("no such figure") && failure.contains("--extract ops"),
            "{failure}"
        );
        let word = printed("x", "", "is (.*)$");
        assert!(
            figure(&word, "it is late", "")
                .unwrap_err()
                .to_string()
                .contains("`late` is no number")
        );
    }

    #[test]
    fn times_and_bytes_are_those_of_reports() {
        let time = Figure::new(&printed("t", "ms", "(.*) ms")).unwrap();
        assert_eq!(time.unit.symbol(), "ns");
        let bare = suites::read_figure("t=([0-9]+) msec").unwrap();
        assert_eq!(figure(&bare, "3 msec", ""), Ok(3e6), "what a pattern says is converted, too");
        assert_eq!(figure(&printed("m", "KiB", "(.*) KiB"), "2 KiB", ""), Ok(2_048.0));
        for (unit, number) in [("ms", 3e6), ("s", 3e9), ("KiB", 3_072.0), ("MB/s", 3.0)] {
            let bare = figure(&printed("m", unit, "m: ([0-9]+)"), "m: 3", "");
            assert_eq!(bare, Ok(number), "the unit that is named is that of a number alone");
        }
    }

    #[test]
    fn a_rate_of_operations_says_how_many_a_run_had() {
        let operations = |unit: &str, rate: f64| {
            let figure = Figure::new(&printed("rate", unit, "rate=(.*)")).unwrap();
            figure.operations(rate, 0.5e9)
        };
        assert_eq!(operations("ops/s", 3_000.0), Some(1_500));
        assert_eq!(operations("1/s", 0.5), None, "less than one");
        assert_eq!((operations("MB/s", 100.0), operations("ms", 100.0)), (None, None));
    }

    #[test]
    fn the_whole_token_is_the_figure() {
        let read = |output: &str, typed: &str| {
            figure(&suites::read_figure(typed).unwrap(), output, "")
                .map_err(|failure| failure.to_string())
        };
        let bare = "t=([0-9.]+)";
        assert_eq!(read("t: 1.2e6", bare), Ok(1.2e6));
        assert_eq!(read("12,5 ms", "t=([0-9.,]+) ms"), Ok(12.5e6));
        assert_eq!(read("1,234,567", "t=([0-9.,]+)"), Ok(1_234_567.0));
        assert_eq!(read("took 300 \u{b5}s", "t=took ([0-9.]+) (?:\u{b5}s|ms)"), Ok(300e3));
        assert_eq!(read("took 3 ms", "t=took ([0-9.]+) (?:\u{b5}s|ms)"), Ok(3e6));
        assert_eq!(read("took 1m2.5s", "t=([0-9.]+)s"), Ok(62.5e9));
        assert_eq!(read("0.5 GB/s", "t=([0-9.]+) [MG]B/s"), Ok(0.5e9));
        assert_eq!(read("2 GB/s", "rate[MB/s]=([0-9.]+)"), Ok(2_000.0));
        assert_eq!(read("0 faults", "t=([0-9]+) faults"), Ok(0.0));
        for (output, typed, line) in [
            ("1,234,567", bare, "the pattern takes `567` of `1,234,567`; let the group"),
            ("-1", bare, "`-1` is below zero: figures are compared by their factors"),
            ("v 0x10", bare, "`0x10` is hexadecimal (--extract t"),
            ("12,345 ms", "t=([0-9.,]+) ms", "`12,345 ms` is 12345 or 12.345: the comma may"),
            (
                "took 3 ms",
                bare,
                "`3 ms` is in ms, not a number without a unit; name its unit: \
                                 --extract 't[ms]=…'",
            ),
            ("3 MB", "t[ms]=([0-9]+)", "`3 MB` is in MB, not in ms"),
            ("12K", "m[B]=([0-9]+)", "`12K` may be multiples of 1,000 or of 1,024 B; print it in"),
        ] {
            let error = read(output, typed).unwrap_err();
            assert!(error.starts_with(line), "{output} with {typed}: {error}");
        }
    }

    #[test]
    fn a_wrong_pattern_or_a_taken_name_is_refused() {
        assert!(Figure::new(&printed("x", "", "(")).unwrap_err().contains("no regular expression"));
        assert!(Figure::new(&printed("x", "", "[0-9]+")).unwrap_err().contains("no group"));
        let custom = |names: &[&str]| Custom {
            figures: names.iter().map(|name| printed(name, "", "(x)")).collect(),
            ..Custom::default()
        };
        assert!(figures(&custom(&["user"])).unwrap_err().contains("already"));
        assert!(figures(&custom(&["a", "a"])).is_err());
        assert_eq!(figures(&custom(&["a", "b"])).unwrap().len(), 2);
    }
}
