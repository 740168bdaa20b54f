//! What a figure is, from the name of its column: `us_per_wait` is a time, `tokens_per_s` a rate.

use quantities::{Better, Unit as Symbol};

/// How the figures of a column are to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// What the record calls it; times are `ns`.
    pub symbol: String,
    /// What a figure is multiplied by to be in that unit.
    pub factor: f64,
    /// What the figure is, after `µs per` for a time and before `in` for anything else.
    pub about: String,
    /// Which figures are better, where the unit or the name says so.
    pub better: Option<Better>,
}

/// The nanoseconds of a time in a column's name. There, `min` is a minimum and `d` is anything.
fn time(word: &str) -> Option<f64> {
    given_time(&word.to_lowercase()).filter(|ns| *ns <= 1e9)
}

/// The nanoseconds of a time that stands for itself.
fn given_time(word: &str) -> Option<f64> {
    let symbol = Symbol::read(word);
    symbol.is_time().then(|| symbol.scale())
}

/// The shortest name of a time: `second` → `s`.
fn short(word: &str) -> &str {
    ["ns", "µs", "ms", "s"].into_iter().find(|symbol| time(symbol) == time(word)).unwrap_or(word)
}

impl Unit {
    /// The unit of the column called `name`; `given` goes before what the name says.
    pub fn new(name: &str, given: Option<&str>) -> Unit {
        let named = Unit::from_name(name);
        let Some(given) = given.map(str::trim).filter(|given| !given.is_empty()) else {
            return named;
        };
        match given_time(given) {
            Some(factor) if named.symbol == "ns" => Unit { factor, ..named },
            Some(ns) => Unit::time(ns, &format!("operation ({})", spaced(name))),
            None => Unit::plain(given, &spaced(name)),
        }
    }

    /// The unit of the columns of a wide table.
    ///
    /// # Errors
    /// Where they differ.
    pub fn shared<'a>(
        names: impl Iterator<Item = &'a str>,
        given: Option<&str>,
    ) -> Result<Unit, String> {
        let all: Vec<(&str, Unit)> = names.map(|name| (name, Unit::new(name, given))).collect();
        let (first_name, first) = &all[0];
        let differs = |unit: &Unit| (&unit.symbol, unit.factor) != (&first.symbol, first.factor);
        if let Some((name, _)) = all.iter().find(|(_, unit)| differs(unit)) {
            return Err(format!("--y: {first_name} and {name} are in different units"));
        }
        let is_better = all.iter().all(|(_, unit)| unit.better == first.better);
        let about = if first.symbol == "ns" { "operation" } else { "figure" };
        let better = first.better.filter(|_| is_better);
        Ok(Unit { about: about.to_owned(), better, ..first.clone() })
    }

    fn time(factor: f64, about: &str) -> Unit {
        let better = Some(Better::Lower);
        Unit { symbol: "ns".into(), factor, about: about.to_owned(), better }
    }

    fn plain(symbol: &str, about: &str) -> Unit {
        let better = Better::read(symbol, about);
        Unit { symbol: symbol.to_owned(), factor: 1.0, about: about.to_owned(), better }
    }

    fn from_name(name: &str) -> Unit {
        if let Some((about, unit)) = with_unit(name) {
            return match given_time(unit) {
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
        // Rates that go by a name: `rps`, `kIOPS`, `Gbps`.
        let rate = Symbol::read(&name);
        if rate.is_rate() && !name.contains('/') {
            let counted = rate.base();
            let counted = counted.split('/').next().unwrap_or_default();
            return Unit { factor: rate.scale(), ..Unit::plain(&rate.base(), counted) };
        }
        if let Some((head, each)) = name.split_once('/')
            && let head = head.split(' ').collect::<Vec<_>>()
            && head.last().is_some_and(|word| time(word).is_some())
        {
            return Unit::per(&head, &[each]);
        }
        let (last, before) = words.split_last().unwrap_or((&"", &[]));
        match time(last) {
            Some(ns) if before.is_empty() => Unit::time(ns, "operation"),
            Some(ns) => Unit::time(ns, &format!("operation ({})", before.join(" "))),
            None if Symbol::read(&name).is_rate() => Unit::plain(&name, ""),
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
            // `wait ms per s` is a share of the time.
            (Some(_), Some(_)) => {
                Unit::plain(&format!("{}/{}", head[head.len() - 1], short(&each)), &what)
            }
            (None, Some(_)) => Unit::plain(&format!("{what}/{}", short(&each)), &what),
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

/// `latency (us)`, `latency [us]` or `latency/us` → `latency`, `us`.
fn with_unit(name: &str) -> Option<(&str, &str)> {
    let Some(inner) = name.strip_suffix([')', ']']) else {
        return name.split_once('/').filter(|_| Symbol::read(name).is_time());
    };
    let (about, unit) = inner.rsplit_once(['(', '['])?;
    let (about, unit) = (about.trim(), unit.trim());
    (!about.is_empty() && !unit.is_empty()).then_some((about, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_say_their_unit() {
        let [lower, higher] = [Some(Better::Lower), Some(Better::Higher)];
        let cases = [
            ("us_per_wait_and_dispatch", "ns", 1e3, "wait and dispatch", lower),
            ("mean_us_per_wait", "ns", 1e3, "wait (mean)", lower),
            ("elapsed_s", "ns", 1e9, "operation (elapsed)", lower),
            ("latency_ms", "ns", 1e6, "operation (latency)", lower),
            ("ns", "ns", 1.0, "operation", lower),
            ("latency (µs)", "ns", 1e3, "operation (latency)", lower),
            ("wall [min]", "ns", 60e9, "operation (wall)", lower),
            ("min", "", 1.0, "min", None),
            ("latency/ms", "ns", 1e6, "operation (latency)", lower),
            ("mean_time/us", "ns", 1e3, "operation (mean time)", lower),
            ("ns/op", "ns", 1.0, "op", lower),
            ("mean ms/op", "ns", 1e6, "op (mean)", lower),
            ("CPU (ms/s)", "ms/s", 1.0, "CPU", None),
            ("wait_ms_per_s", "ms/s", 1.0, "wait ms", None),
            ("rejected requests/s", "rejected requests/s", 1.0, "", None),
            ("5xx/s", "5xx/s", 1.0, "", None),
            ("dollars/hour", "dollars/hour", 1.0, "", None),
            ("throughput [MB/s]", "MB/s", 1.0, "throughput", higher),
            ("tokens_per_s", "tokens/s", 1.0, "tokens", higher),
            ("requests_per_second", "requests/s", 1.0, "requests", higher),
            ("errors_per_s", "errors/s", 1.0, "errors", None),
            ("events_per_ms", "events/ms", 1.0, "events", higher),
            ("ops/s", "ops/s", 1.0, "", higher),
            ("Anfragen/s", "Anfragen/s", 1.0, "", higher),
            ("MiB/s", "MiB/s", 1.0, "", higher),
            ("rps", "requests/s", 1.0, "requests", higher),
            ("Gbps", "bit/s", 1e9, "bit", higher),
            ("kIOPS", "ops/s", 1e3, "ops", higher),
            ("ops", "", 1.0, "ops", higher),
            ("net_throughput", "", 1.0, "net throughput", higher),
            ("cycles_per_op", "cycles/op", 1.0, "figures", lower),
            ("percent_cpu", "%", 1.0, "percent cpu", None),
            ("context_switches", "", 1.0, "context switches", None),
            ("hits/miss", "", 1.0, "hits/miss", None),
            ("per_s", "ns", 1e9, "operation (per)", lower),
        ];
        for (name, symbol, factor, about, better) in cases {
            let wanted = Unit { symbol: symbol.into(), factor, about: about.into(), better };
            assert_eq!(Unit::new(name, None), wanted, "{name}");
        }
    }

    #[test]
    fn what_is_given_goes_before_the_name() {
        assert_eq!(Unit::new("us_per_wait", Some("ms")), Unit::time(1e6, "wait"));
        assert_eq!(Unit::new("cost", Some("us")), Unit::time(1e3, "operation (cost)"));
        assert_eq!(Unit::new("score", Some("points")), Unit::plain("points", "score"));
        assert_eq!(Unit::new("score", Some("pages/s")).better, Some(Better::Higher));
        assert_eq!(Unit::new("cost", Some("cycles/op")).better, Some(Better::Lower));
    }
}
