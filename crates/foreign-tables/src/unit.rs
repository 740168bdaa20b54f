//! What a figure is, from the name of its column: `us_per_wait` is a time, `tokens_per_s` a rate.

/// How the figures of a column are to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// What the record calls it; times are `ns`.
    pub symbol: String,
    /// What a figure is multiplied by to be in that unit.
    pub factor: f64,
    /// What the figure is, after `µs per` for a time and before `in` for anything else.
    pub about: String,
    /// Whether it is so much in a time, of which more is better.
    pub rate: bool,
}

/// Times, by the names that they go by, in nanoseconds.
const TIMES: [(&[&str], f64); 4] = [
    (&["ns", "nsec", "nanosecond", "nanoseconds"], 1.0),
    (&["us", "µs", "μs", "usec", "microsecond", "microseconds"], 1e3),
    (&["ms", "msec", "millisecond", "milliseconds"], 1e6),
    (&["s", "sec", "secs", "second", "seconds"], 1e9),
];
/// Rates that go by a name, and what they count.
const RATES: [(&str, &str); 4] =
    [("rps", "requests"), ("qps", "queries"), ("tps", "transactions"), ("iops", "operations")];

fn time(word: &str) -> Option<f64> {
    let word = word.to_lowercase();
    TIMES.iter().find(|(names, _)| names.contains(&word.as_str())).map(|(_, ns)| *ns)
}

/// The shortest name of a time: `second` → `s`.
fn short(word: &str) -> &str {
    TIMES.iter().find(|(names, _)| names.contains(&word)).map_or(word, |(names, _)| names[0])
}

impl Unit {
    /// The unit of the column called `name`; `given` goes before what the name says.
    pub fn new(name: &str, given: Option<&str>) -> Unit {
        let named = Unit::from_name(name);
        let Some(given) = given.map(str::trim).filter(|given| !given.is_empty()) else {
            return named;
        };
        match time(given) {
            Some(_) if named.symbol == "ns" => Unit { factor: time(given).unwrap_or(1.0), ..named },
            Some(ns) => Unit::time(ns, &format!("operation ({})", spaced(name))),
            None => Unit::plain(given, &spaced(name)),
        }
    }

    fn time(factor: f64, about: &str) -> Unit {
        Unit { symbol: "ns".into(), factor, about: about.to_owned(), rate: false }
    }

    fn plain(symbol: &str, about: &str) -> Unit {
        let rate = symbol.rsplit_once('/').is_some_and(|(_, per)| time(per.trim()).is_some());
        Unit { symbol: symbol.to_owned(), factor: 1.0, about: about.to_owned(), rate }
    }

    fn from_name(name: &str) -> Unit {
        if let Some((about, unit)) = bracketed(name) {
            return match time(unit) {
                Some(ns) => Unit::time(ns, &format!("operation ({})", spaced(about))),
                None => Unit::plain(unit, &spaced(about)),
            };
        }
        let name = spaced(name);
        let words: Vec<&str> = name.split(' ').collect();
        let per = words.iter().position(|word| *word == "per");
        if let Some(per) = per.filter(|per| (1..words.len() - 1).contains(per)) {
            return Unit::per(&words[..per], &words[per + 1..]);
        }
        if let Some((_, counted)) = RATES.iter().find(|(rate, _)| name.to_lowercase() == *rate) {
            return Unit::plain(&format!("{counted}/s"), counted);
        }
        let (last, before) = words.split_last().unwrap_or((&"", &[]));
        match time(last) {
            Some(ns) if before.is_empty() => Unit::time(ns, "operation"),
            Some(ns) => Unit::time(ns, &format!("operation ({})", before.join(" "))),
            None if Unit::plain(&name, "").rate => Unit::plain(&name, ""),
            None if words.iter().any(|word| ["percent", "pct", "%"].contains(word)) => {
                Unit::plain("%", &name)
            }
            None => Unit::plain("", &name),
        }
    }

    /// `us per wait`, `tokens per s`, `cycles per operation`.
    fn per(head: &[&str], tail: &[&str]) -> Unit {
        let (each, what) = (tail.join(" "), head.join(" "));
        let unit = head.last().and_then(|word| time(word));
        match (unit, time(&each)) {
            (_, Some(_)) => Unit::plain(&format!("{what}/{}", short(&each)), &what),
            (Some(ns), None) if head.len() == 1 => Unit::time(ns, &each),
            (Some(ns), None) => {
                Unit::time(ns, &format!("{each} ({})", head[..head.len() - 1].join(" ")))
            }
            (None, None) => Unit::plain(&format!("{what}/{each}"), "figures"),
        }
    }

    /// Whether nothing says what the figures are.
    pub fn is_unknown(&self) -> bool {
        self.symbol.is_empty()
    }
}

/// Underscores as spaces.
pub fn spaced(name: &str) -> String {
    name.replace('_', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `latency (us)` or `latency [us]` → `latency`, `us`.
fn bracketed(name: &str) -> Option<(&str, &str)> {
    let inner = name.strip_suffix([')', ']'])?;
    let (about, unit) = inner.rsplit_once(['(', '['])?;
    let (about, unit) = (about.trim(), unit.trim());
    (!about.is_empty() && !unit.is_empty()).then_some((about, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_say_their_unit() {
        let cases = [
            ("us_per_wait_and_dispatch", "ns", 1e3, "wait and dispatch", false),
            ("mean_us_per_wait", "ns", 1e3, "wait (mean)", false),
            ("elapsed_s", "ns", 1e9, "operation (elapsed)", false),
            ("latency_ms", "ns", 1e6, "operation (latency)", false),
            ("ns", "ns", 1.0, "operation", false),
            ("latency (µs)", "ns", 1e3, "operation (latency)", false),
            ("throughput [MB/s]", "MB/s", 1.0, "throughput", true),
            ("tokens_per_s", "tokens/s", 1.0, "tokens", true),
            ("requests_per_second", "requests/s", 1.0, "requests", true),
            ("ops/s", "ops/s", 1.0, "", true),
            ("rps", "requests/s", 1.0, "requests", true),
            ("cycles_per_op", "cycles/op", 1.0, "figures", false),
            ("percent_cpu", "%", 1.0, "percent cpu", false),
            ("context_switches", "", 1.0, "context switches", false),
            ("hits/miss", "", 1.0, "hits/miss", false),
            ("per_s", "ns", 1e9, "operation (per)", false),
        ];
        for (name, symbol, factor, about, rate) in cases {
            let wanted = Unit { symbol: symbol.into(), factor, about: about.into(), rate };
            assert_eq!(Unit::new(name, None), wanted, "{name}");
        }
    }

    #[test]
    fn what_is_given_goes_before_the_name() {
        assert_eq!(Unit::new("us_per_wait", Some("ms")), Unit::time(1e6, "wait"));
        assert_eq!(Unit::new("cost", Some("us")), Unit::time(1e3, "operation (cost)"));
        assert_eq!(Unit::new("score", Some("points")), Unit::plain("points", "score"));
        assert!(Unit::new("score", Some("pages/s")).rate);
        assert!(!Unit::new("cost", Some("cycles/op")).rate);
    }
}
