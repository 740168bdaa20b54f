//! Figures that a command prints, as metrics.

use super::{ABOUT, counters};
use engine::{
    Custom, Failure, MetricAbout, PrintedFigure, Ran, SampleKind, leaked, unit_of_reports,
};
use regex_lite::Regex;

/// A figure that a command prints: its last match counts.
#[derive(Debug)]
pub(super) struct Figure {
    name: &'static str,
    unit: &'static str,
    /// What a printed number is multiplied by.
    scale: f64,
    lower_is_better: bool,
    pattern: Regex,
}

/// The figures of all commands.
///
/// # Errors
/// With one line, where a name is taken or a pattern is wrong.
pub(super) fn figures(custom: &Custom) -> Result<Vec<Figure>, String> {
    let counted = counters::metrics();
    let mut names: Vec<&str> =
        ABOUT.metrics.iter().chain(&counted).map(|metric| metric.name).collect();
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
        let PrintedFigure { name, unit, pattern, lower_is_better } = printed;
        let wrong = |what: &str| format!("--extract {name}: `{pattern}` {what}");
        let pattern = Regex::new(&format!("(?m){pattern}"))
            .map_err(|error| wrong(&format!("is no regular expression: {error}")))?;
        if pattern.captures_len() < 2 {
            return Err(wrong("has no group: round brackets stand around the figure"));
        }
        let (scale, unit) = unit_of_reports(unit).unwrap_or_else(|| (1.0, leaked(unit)));
        Ok(Figure { name: leaked(name), unit, scale, lower_is_better: *lower_is_better, pattern })
    }

    /// The metric.
    pub fn metric(&self) -> MetricAbout {
        let samples = match (self.unit, self.lower_is_better) {
            ("ns", true) => SampleKind::Time,
            (unit, true) => SampleKind::Amount(unit),
            (unit, false) => SampleKind::Degree(unit),
        };
        let about = match samples {
            SampleKind::Time => "run, as it printed".to_owned(),
            _ => format!("{} as printed", self.name),
        };
        MetricAbout::new(self.name, leaked(&about), samples)
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The figure that a run printed: on standard output, or else on standard error.
    pub fn find(&self, ran: &Ran) -> Result<f64, Failure> {
        let last =
            |text| self.pattern.captures_iter(text).last()?.get(1).map(|group| group.as_str());
        let wrong = |what: String| {
            Failure::new(format!("{what} (--extract {}, pattern `{}`)", self.name, self.pattern))
        };
        let printed = last(&ran.output).or_else(|| last(&ran.errors));
        let printed = printed.ok_or_else(|| wrong("it printed no such figure".to_owned()))?;
        let number = number(printed).ok_or_else(|| wrong(format!("`{printed}` is no number")))?;
        Ok(number * self.scale)
    }
}

/// A number as programs print it: `1,234.5`, `1e6`.
fn number(printed: &str) -> Option<f64> {
    let digits: String =
        printed.trim().chars().filter(|c| !matches!(c, ',' | '_' | '\'')).collect();
    digits.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::RunEnd;

    fn printed(name: &str, unit: &str, pattern: &str) -> PrintedFigure {
        let [name, unit, pattern] = [name, unit, pattern].map(str::to_owned);
        PrintedFigure { name, unit, pattern, lower_is_better: false }
    }

    fn figure(figure: &PrintedFigure, output: &str, errors: &str) -> Result<f64, Failure> {
        let ran = Ran {
            before: 0,
            after: 0,
            end: RunEnd::Exited(0),
            used: sys::process::Resources::default(),
            output: output.into(),
            errors: errors.into(),
            left: 0,
        };
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
        assert_eq!((time.unit, time.scale), ("ns", 1e6));
        let bare = engine::read_figure("t=([0-9]+) msec").unwrap();
        assert_eq!(figure(&bare, "3 msec", ""), Ok(3e6), "what a pattern says is converted, too");
        assert_eq!(figure(&printed("m", "KiB", "(.*) KiB"), "2 KiB", ""), Ok(2_048.0));
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
