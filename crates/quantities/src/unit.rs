//! Units as programs print them: times, bytes, bits, counts, and rates of these.

/// A unit: how many of its kind's base unit it is. Two units of one kind are converted into each other.
///
/// ```
/// use quantities::Unit;
///
/// let (ms, rate) = (Unit::read("ms"), Unit::read("KiB/s"));
/// assert_eq!((ms.base().as_str(), ms.scale()), ("ns", 1e6));
/// assert_eq!((rate.base().as_str(), rate.scale()), ("B/s", 1024.0));
/// assert_eq!(Unit::read("points").base(), "points");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    symbol: String,
    amount: Amount,
    per: Per,
    scale: f64,
}

/// What a unit measures.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Amount {
    /// A number alone.
    Bare,
    Time,
    Bytes,
    Bits,
    Percent,
    /// Things that programs count, by one name.
    Count(&'static str),
    /// A word that is no unit which knee knows.
    Word(String),
}

/// What a unit is per.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Per {
    Nothing,
    Second,
    Word(String),
}

/// Times, by the names that they go by, in nanoseconds.
const TIMES: [(&[&str], f64); 8] = [
    (&["ps", "picosecond", "picoseconds"], 1e-3),
    (&["ns", "nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"], 1.0),
    (&["us", "µs", "μs", "usec", "usecs", "micros", "microsecond", "microseconds"], 1e3),
    (&["ms", "msec", "msecs", "millis", "millisecond", "milliseconds"], 1e6),
    (&["s", "sec", "secs", "second", "seconds"], 1e9),
    (&["m", "min", "mins", "minute", "minutes"], 60e9),
    (&["h", "hr", "hrs", "hour", "hours"], 3_600e9),
    (&["d", "day", "days"], 86_400e9),
];
/// Words for times: over a unit they are a quantity and its unit, `latency/ms`, and no rate.
const OF_TIME: [&str; 11] = [
    "time", "duration", "latency", "delay", "elapsed", "wait", "pause", "stall", "lag", "rtt",
    "runtime",
];
/// Words that may be for times, and are so over a unit which few rates have: `p99/ms`, but not `t/s`, as for tokens.
const OF_TIME_AS_WELL: [&str; 11] =
    ["t", "mean", "average", "avg", "median", "min", "max", "p50", "p90", "p95", "p99"];
/// Things that programs count, each with its names; the first one is that of its base unit.
const COUNTS: [&[&str]; 14] = [
    &["ops", "op", "operation", "operations"],
    &["requests", "request", "reqs", "req"],
    &["queries", "query"],
    &["transactions", "transaction", "trans", "txns", "txn", "tx"],
    &["packets", "packet", "pkts", "pkt"],
    &["messages", "message", "msgs", "msg"],
    &["events", "event"],
    &["items", "item"],
    &["rows", "row"],
    &["calls", "call"],
    &["connections", "connection", "conns", "conn"],
    &["iterations", "iteration", "iters", "iter"],
    &["cycles", "cycle"],
    &["flop"],
];
/// Rates that go by a name, and what they count.
const RATES: [(&str, &str); 6] = [
    ("rps", "requests"),
    ("qps", "queries"),
    ("tps", "transactions"),
    ("iops", "ops"),
    ("pps", "packets"),
    ("flops", "flop"),
];
/// Prefixes of decimal multiples.
const PREFIXES: [(char, f64); 5] = [('k', 1e3), ('K', 1e3), ('M', 1e6), ('G', 1e9), ('T', 1e12)];
/// Prefixes of binary multiples.
const BINARY: [(&str, f64); 5] = [
    ("Ki", 1024.0),
    ("ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
];

/// What a prefix of decimal multiples stands for.
pub(crate) fn multiple(prefix: char) -> Option<f64> {
    PREFIXES.iter().find(|(letter, _)| *letter == prefix).map(|(_, factor)| *factor)
}

/// Nanoseconds of a unit of time.
fn time(name: &str) -> Option<f64> {
    let row = |name: &str| TIMES.iter().find(|(names, _)| names.contains(&name));
    // Of the short ones, capitals are another unit: `MS` and `M` are no times.
    let times = row(name).or_else(|| (name.len() > 2).then(|| row(&name.to_lowercase())).flatten());
    times.map(|(_, ns)| *ns)
}

/// Whether a name over a unit of time is a time in that unit: `mean latency/ms`.
fn is_time_in(name: &str, unit_ns: f64) -> bool {
    let name = name.to_lowercase();
    let last = name.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    OF_TIME.contains(&last) || (unit_ns < 1e9 && OF_TIME_AS_WELL.contains(&last))
}

/// Bytes and bits, by the names that follow a prefix.
fn data(name: &str) -> Option<Amount> {
    match name {
        "B" | "byte" | "bytes" | "Byte" | "Bytes" => Some(Amount::Bytes),
        "b" | "bit" | "bits" | "Bit" | "Bits" => Some(Amount::Bits),
        _ => None,
    }
}

fn count(name: &str) -> Option<Amount> {
    let lower = name.to_lowercase();
    COUNTS.iter().find(|names| names.contains(&lower.as_str())).map(|names| Amount::Count(names[0]))
}

/// What is counted per second by a rate of that name.
fn named_rate(name: &str) -> Option<Amount> {
    let lower = name.to_lowercase();
    match name {
        "Bps" => Some(Amount::Bytes),
        "bps" => Some(Amount::Bits),
        _ => {
            RATES.iter().find(|(rate, _)| *rate == lower).map(|(_, counted)| Amount::Count(counted))
        }
    }
}

/// What is before the stroke, or stands alone: an amount, what it is per, and its factor.
fn head(name: &str) -> Option<(Amount, Per, f64)> {
    let plain = |name: &str| {
        let amount = data(name).or_else(|| count(name)).map(|amount| (amount, Per::Nothing));
        amount.or_else(|| named_rate(name).map(|amount| (amount, Per::Second)))
    };
    if let Some(ns) = time(name) {
        return Some((Amount::Time, Per::Nothing, ns));
    }
    if matches!(name, "%" | "percent") {
        return Some((Amount::Percent, Per::Nothing, 1.0));
    }
    if let Some((amount, per)) = plain(name) {
        return Some((amount, per, 1.0));
    }
    let binary = BINARY.iter().find_map(|(prefix, factor)| {
        data(name.strip_prefix(prefix)?).map(|amount| (amount, Per::Nothing, *factor))
    });
    binary.or_else(|| {
        let mut letters = name.chars();
        let factor = multiple(letters.next()?)?;
        plain(letters.as_str()).map(|(amount, per)| (amount, per, factor))
    })
}

impl Unit {
    /// The unit of a number alone.
    pub fn bare() -> Unit {
        Unit { symbol: String::new(), amount: Amount::Bare, per: Per::Nothing, scale: 1.0 }
    }

    /// Reads a unit. A word that is none which knee knows is a unit of its own kind.
    pub fn read(symbol: &str) -> Unit {
        let symbol = symbol.trim();
        let unit = |amount, per, scale| Unit { symbol: symbol.to_owned(), amount, per, scale };
        if symbol.is_empty() {
            return Unit::bare();
        }
        let word = |name: &str| Amount::Word(name.to_owned());
        let Some((name, per)) = symbol.split_once('/') else {
            let (amount, per, scale) =
                head(symbol).unwrap_or_else(|| (word(symbol), Per::Nothing, 1.0));
            return unit(amount, per, scale);
        };
        let (name, per) = (name.trim(), per.trim());
        let prefix = || {
            let mut letters = name.chars();
            let factor = multiple(letters.next()?)?;
            letters.next().is_none().then_some((Amount::Bare, Per::Nothing, factor))
        };
        let (amount, own_per, scale) = match name {
            "" => (Amount::Bare, Per::Nothing, 1.0),
            name => head(name).or_else(prefix).unwrap_or_else(|| (word(name), Per::Nothing, 1.0)),
        };
        match (own_per, time(per)) {
            (_, Some(ns)) if is_time_in(name, ns) => unit(Amount::Time, Per::Nothing, ns),
            (Per::Nothing, Some(ns)) => unit(amount, Per::Second, scale * 1e9 / ns),
            (Per::Nothing, None) if !per.is_empty() => {
                unit(amount, Per::Word(per.to_owned()), scale)
            }
            _ => unit(word(symbol), Per::Nothing, 1.0),
        }
    }

    /// The symbols of all units that have one: a pattern may stand for several of them.
    pub fn symbols() -> Vec<String> {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<String>>();
        let times = TIMES.iter().flat_map(|(symbols, _)| names(symbols));
        let counts = COUNTS.iter().flat_map(|symbols| names(symbols));
        let rates = RATES.iter().flat_map(|(rate, _)| [(*rate).to_owned(), rate.to_uppercase()]);
        let data = ["B", "b", "bit", "bits", "byte", "bytes", "Bytes", "bps", "Bps"];
        let plain: Vec<String> =
            data.map(str::to_owned).into_iter().chain(counts).chain(rates).collect();
        let decimal = PREFIXES.iter().map(|(prefix, _)| prefix.to_string());
        let prefixes: Vec<String> =
            decimal.chain(BINARY.iter().map(|(prefix, _)| (*prefix).to_owned())).collect();
        let multiples = plain
            .iter()
            .flat_map(|name| prefixes.iter().map(move |prefix| format!("{prefix}{name}")));
        let amounts: Vec<String> = plain.iter().cloned().chain(multiples).collect();
        let per_second =
            amounts.iter().flat_map(|name| [format!("{name}/s"), format!("{name}/sec")]);
        let all = per_second.chain(amounts.iter().cloned()).chain(times).chain(["%".to_owned()]);
        all.filter(|symbol| Unit::read(symbol).is_known()).collect()
    }

    /// As it was read.
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// The base unit of its kind: `ns`, `B`, `bit/s`, `requests/s`, or its own word; empty for a number alone.
    pub fn base(&self) -> String {
        let amount = match &self.amount {
            Amount::Bare => "",
            Amount::Time => "ns",
            Amount::Bytes => "B",
            Amount::Bits => "bit",
            Amount::Percent => "%",
            Amount::Count(name) => name,
            Amount::Word(word) => word,
        };
        match &self.per {
            Per::Nothing => amount.to_owned(),
            Per::Second => format!("{amount}/s"),
            Per::Word(word) => format!("{amount}/{word}"),
        }
    }

    /// How many of its base unit it is.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The base unit of its kind, as a unit.
    #[must_use]
    pub fn in_base(&self) -> Unit {
        Unit { symbol: self.base(), scale: 1.0, ..self.clone() }
    }

    /// Whether it is the unit of a number alone.
    pub fn is_bare(&self) -> bool {
        self.amount == Amount::Bare && self.per == Per::Nothing
    }

    /// Whether it is a unit, and no other word. Anything per a time is one.
    pub fn is_known(&self) -> bool {
        match (&self.amount, &self.per) {
            (_, Per::Second) => true,
            (Amount::Word(_), _) => false,
            (Amount::Bare, per) => *per == Per::Nothing,
            _ => true,
        }
    }

    /// Whether it is a time, per nothing.
    pub fn is_time(&self) -> bool {
        self.amount == Amount::Time && self.per == Per::Nothing
    }

    /// Whether it is so much of anything but time per a time.
    pub fn is_rate(&self) -> bool {
        self.per == Per::Second && self.amount != Amount::Time
    }

    /// Whether it is a time per a time.
    pub fn is_share_of_time(&self) -> bool {
        self.per == Per::Second && self.amount == Amount::Time
    }

    /// Whether it is a number of bytes or bits, per anything.
    pub fn is_data(&self) -> bool {
        matches!(self.amount, Amount::Bytes | Amount::Bits)
    }

    /// A number of this unit as one of `wanted`; none where they are of different kinds.
    ///
    /// A count of things converts to a number alone, and a number per second to that number of things per second.
    pub fn convert(&self, number: f64, wanted: &Unit) -> Option<f64> {
        let counts = |amount: &Amount| matches!(amount, Amount::Count(_) | Amount::Word(_));
        let is_count = matches!(self.amount, Amount::Count(_)) && self.per == Per::Nothing;
        let is_bare_rate = self.amount == Amount::Bare && self.is_rate();
        let is_same = self.amount == wanted.amount && self.per == wanted.per;
        let fits = is_same
            || (wanted.is_bare() && is_count)
            || (is_bare_rate && wanted.is_rate() && counts(&wanted.amount));
        fits.then_some(number * self.scale / wanted.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_of_a_kind_with_a_scale() {
        let cases = [
            ("ns", "ns", 1.0),
            ("\u{b5}s", "ns", 1e3),
            ("\u{3bc}s", "ns", 1e3),
            ("usec", "ns", 1e3),
            ("msec", "ns", 1e6),
            ("Seconds", "ns", 1e9),
            ("min", "ns", 60e9),
            ("B", "B", 1.0),
            ("KB", "B", 1e3),
            ("kB", "B", 1e3),
            ("KiB", "B", 1024.0),
            ("MBytes", "B", 1e6),
            ("MiB/s", "B/s", 1_048_576.0),
            ("GB/sec", "B/s", 1e9),
            ("Gbps", "bit/s", 1e9),
            ("Mbit/s", "bit/s", 1e6),
            ("Gbits/sec", "bit/s", 1e9),
            ("%", "%", 1.0),
            ("ops/s", "ops/s", 1.0),
            ("req/s", "requests/s", 1.0),
            ("requests/min", "requests/s", 1.0 / 60.0),
            ("kreq/s", "requests/s", 1e3),
            ("Mops/s", "ops/s", 1e6),
            ("rps", "requests/s", 1.0),
            ("kIOPS", "ops/s", 1e3),
            ("GFLOPS", "flop/s", 1e9),
            ("pages/s", "pages/s", 1.0),
            ("k/s", "/s", 1e3),
            ("/s", "/s", 1.0),
            ("\u{b5}s/op", "ns/op", 1e3),
            ("allocs/op", "allocs/op", 1.0),
            ("points", "points", 1.0),
            ("latency/ms", "ns", 1e6),
            ("p99_Latency/us", "ns", 1e3),
            ("t/ms", "ns", 1e6),
            ("t/s", "t/s", 1.0),
            ("time steps/s", "time steps/s", 1.0),
            ("ms/s", "ns/s", 1e6),
            ("MS", "MS", 1.0),
            ("", "", 1.0),
        ];
        for (symbol, base, scale) in cases {
            let unit = Unit::read(symbol);
            assert_eq!(unit.base(), base, "{symbol}");
            assert!((unit.scale() / scale - 1.0).abs() < 1e-12, "{symbol}: {}", unit.scale());
            assert_eq!(unit.symbol(), symbol);
        }
    }

    #[test]
    fn a_word_is_known_as_a_unit_or_not() {
        for symbol in ["ms", "pages/s", "ns/op", "KiB", "kops", "rps", "%", ""] {
            assert!(Unit::read(symbol).is_known(), "{symbol}");
        }
        for symbol in ["points", "and", "in", "hits/miss", "and/or", "x", "rps/s", "a/", "M"] {
            assert!(!Unit::read(symbol).is_known(), "{symbol}");
        }
        assert!(Unit::read("ms").is_time() && !Unit::read("ms/op").is_time());
        assert!(Unit::read("rps").is_rate() && !Unit::read("ms/op").is_rate());
        assert!(Unit::read("ms/s").is_share_of_time() && !Unit::read("ms/s").is_rate());
        assert!(Unit::read("time/us").is_time() && !Unit::read("wait ms/s").is_time());
    }

    #[test]
    fn the_symbols_of_units_are_listed() {
        let symbols = Unit::symbols();
        for symbol in ["ms", "\u{b5}s", "MB/s", "KiB", "Gbps", "kreq/s", "IOPS", "%", "Mbits/sec"] {
            assert!(symbols.iter().any(|listed| listed == symbol), "{symbol}");
        }
        assert!(!symbols.iter().any(|listed| listed == "rps/s" || listed.is_empty()));
    }

    #[test]
    fn units_of_one_kind_convert() {
        let factor = |from: &str, to: &str| Unit::read(from).convert(1.0, &Unit::read(to));
        assert_eq!(factor("ms", "us"), Some(1e3));
        assert_eq!(factor("GB/s", "MB/s"), Some(1e3));
        assert_eq!(factor("req/s", "requests/s"), Some(1.0));
        assert_eq!(factor("k/s", "pages/s"), Some(1e3));
        assert_eq!(factor("kops", ""), Some(1e3));
        for (from, to) in [("ms", "B"), ("ms", ""), ("", "ms"), ("ops/s", "B/s"), ("k/s", "B/s")] {
            assert_eq!(factor(from, to), None, "{from} {to}");
        }
    }
}
