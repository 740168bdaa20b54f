//! Parameters: what can be varied. Each becomes a flag of `knee run`, and one of them is the axis.

use record::Parameters;

/// One parameter of a workload.
#[derive(Debug)]
pub struct Parameter {
    /// Its name, which is also its flag: `active` is `--active`.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What it may be.
    pub values: Values,
    /// What it is when nobody says and it is not the axis.
    pub default: Defaults,
    /// How it grows where it is the axis; absent where it can't be.
    pub sweep: Option<Sweep>,
}

/// What a parameter may be.
#[derive(Debug)]
pub enum Values {
    /// A whole number, at least this.
    AtLeast(u64),
    /// A whole number from here to there.
    Between(u64, u64),
    /// A whole number, at least 1, or a percentage of that other parameter.
    ShareOf(&'static str),
    /// A whole number, at least 1, or a multiple of that other parameter: `4x`, `1/2x`.
    TimesOf(&'static str),
    /// How many of the CPUs that a run may use, or `all` of them.
    Cpus,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Any text of one line, which may hold commas.
    Text,
    /// This word, or a folder: kept as its whole path, since a run may be resumed from elsewhere.
    FolderOr(&'static str),
}

/// Values that stand in where nobody named any, as one would type them.
#[derive(Debug)]
pub struct Defaults {
    /// With `--quick`, and in the suite.
    pub quick: &'static [&'static str],
    /// Otherwise.
    pub full: &'static [&'static str],
}

impl Defaults {
    /// The same for both.
    pub const fn always(values: &'static [&'static str]) -> Defaults {
        Defaults { quick: values, full: values }
    }

    /// Those that are meant.
    pub fn of(&self, quick: bool) -> &'static [&'static str] {
        if quick { self.quick } else { self.full }
    }
}

/// How a parameter grows where it is the axis.
#[derive(Debug)]
pub struct Sweep {
    /// What is counted, for people: `watched descriptors`.
    pub label: &'static str,
    /// Its points when nobody names any.
    pub points: Defaults,
}

impl Parameter {
    /// Checks one value as typed after the flag `--{flag}` and returns it as the record keeps it, or
    /// says in one line what it may be.
    pub fn check(&self, typed: &str, flag: &str) -> Result<String, String> {
        let number = |least: u64| match whole_number(typed) {
            Ok(number) if number >= least => Ok(number.to_string()),
            Ok(number) => Err(format!("--{flag} is at least {least}, not {number}")),
            Err(why) => Err(format!("--{flag}: {why}")),
        };
        match self.values {
            Values::AtLeast(least) => number(least),
            Values::Between(least, most) => match number(least)? {
                text if text.parse().is_ok_and(|number: u64| number <= most) => Ok(text),
                text => Err(format!("--{flag} is at most {most}, not {text}")),
            },
            Values::ShareOf(whole) if typed.ends_with('%') => match share(typed) {
                Some(_) => Ok(typed.into()),
                None => {
                    Err(format!("--{flag}: `{typed}` is not above 0% and at most 100% of {whole}"))
                }
            },
            Values::TimesOf(whole) if typed.ends_with('x') => match times(typed) {
                Some(_) => Ok(typed.into()),
                None => Err(format!(
                    "--{flag}: `{typed}` is no multiple of {whole} (such as 4x, 1.5x or 1/2x)"
                )),
            },
            Values::ShareOf(_) | Values::TimesOf(_) | Values::Cpus => number(1),
            Values::Text | Values::FolderOr(_) if typed.contains(['\n', '\r']) => {
                Err(format!("--{flag} is one line, and this is several"))
            }
            Values::FolderOr(word) if typed != word => std::path::absolute(typed)
                .map(|path| path.display().to_string())
                .map_err(|error| format!("--{flag}: `{typed}`: {error}")),
            Values::Text | Values::FolderOr(_) => Ok(typed.into()),
            Values::OneOf(words) if words.contains(&typed) => Ok(typed.into()),
            Values::OneOf(words) => {
                Err(format!("--{flag} is one of {}, not `{typed}`", words.join(", ")))
            }
        }
    }

    /// The number that a checked value stands for among all the `others`; none if it is a word.
    pub fn number(&self, value: &str, others: &Parameters) -> Option<u64> {
        number_of(value, &self.values, others)
    }

    /// What it may be, in words: `at least 1`, `poll, epoll`.
    pub fn possible(&self) -> String {
        match self.values {
            Values::AtLeast(least) => format!("{least} or more"),
            Values::Between(least, most) => format!("{least} to {most}"),
            Values::ShareOf(whole) => format!("1 or more, or a percentage of {whole}"),
            Values::TimesOf(whole) => format!("1 or more, or a multiple of {whole} such as 4x"),
            Values::Cpus => "1 or more, or all".to_owned(),
            Values::OneOf(words) => words.join(", "),
            Values::Text => "a text".to_owned(),
            Values::FolderOr(word) => format!("a folder, or {word}"),
        }
    }
}

/// The number that a checked value stands for among all the `others`; none if it is a word.
pub(crate) fn number_of(value: &str, values: &Values, others: &Parameters) -> Option<u64> {
    let (whole, factor) = match values {
        Values::ShareOf(whole) => (whole, share(value)),
        Values::TimesOf(whole) => (whole, times(value)),
        _ => return value.parse().ok(),
    };
    let Some(factor) = factor else { return value.parse().ok() };
    let whole: u64 = others.get(*whole)?.parse().ok()?;
    Some(((whole as f64 * factor).round() as u64).max(1))
}

/// `4x`, `1.5x` or `1/2x` as a number; none where that is not above 0 and at most 10,000.
fn times(typed: &str) -> Option<f64> {
    let number = typed.strip_suffix('x')?;
    let times: f64 = match number.split_once('/') {
        Some((over, under)) => over.parse::<f64>().ok()? / under.parse::<f64>().ok()?,
        None => number.parse().ok()?,
    };
    (times > 0.0 && times <= 10_000.0).then_some(times)
}

/// `10%` as 0.1; none where that is no percentage above 0 and up to 100.
fn share(typed: &str) -> Option<f64> {
    let percent: f64 = typed.strip_suffix('%')?.parse().ok()?;
    (percent > 0.0 && percent <= 100.0).then_some(percent / 100.0)
}

/// A whole number as people type one: `9000`, `9k`, `1M`, `1_000`; `9,000` is a list.
pub(crate) fn whole_number(typed: &str) -> Result<u64, String> {
    /// What no machine has, and every sum can hold.
    const MOST: u64 = 1_000_000_000_000;
    match any_whole_number(typed)? {
        number if number > MOST => Err(format!("`{typed}` is more than a machine can hold")),
        number => Ok(number),
    }
}

fn any_whole_number(typed: &str) -> Result<u64, String> {
    let wrong = || format!("`{typed}` is not a whole number (such as 100, 9k or 1M)");
    let (digits, factor) = match typed.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => match typed.strip_suffix(['m', 'M']) {
            Some(digits) => (digits, 1_000_000),
            None => (typed, 1),
        },
    };
    let number: u64 = digits.replace('_', "").parse().map_err(|_| wrong())?;
    number.checked_mul(factor).ok_or_else(|| format!("`{typed}` is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: Parameter = Parameter {
        name: "tokens",
        about: "",
        values: Values::ShareOf("pipes"),
        default: Defaults::always(&["1"]),
        sweep: None,
    };

    #[test]
    fn a_share_is_a_percentage_or_a_number() {
        for typed in ["1", "9k", "10%", "0.1%", "100%"] {
            assert!(TOKENS.check(typed, "points").is_ok(), "{typed}");
        }
        for typed in ["0", "0%", "101%", "-1%", "%", "ten%", "NaN%", "1.5", ""] {
            let line = TOKENS.check(typed, "points").unwrap_err();
            assert!(line.starts_with("--points"), "{line}");
        }
    }

    #[test]
    fn a_share_is_rounded_and_never_nothing() {
        let of = |pipes: &str| Parameters::from([("pipes".into(), pipes.into())]);
        let number = |value, pipes| number_of(value, &TOKENS.values, &of(pipes));
        assert_eq!(number("10%", "1000"), Some(100));
        assert_eq!(number("0.1%", "9000"), Some(9));
        assert_eq!(number("0.1%", "100"), Some(1));
        assert_eq!(number("100%", "9988"), Some(9988));
        assert_eq!(number("25", "9988"), Some(25));
        assert_eq!(number_of("pipe", &Values::OneOf(&["pipe"]), &of("1")), None);
    }

    #[test]
    fn a_multiple_is_rounded_and_never_nothing() {
        let threads = Parameter { values: Values::TimesOf("cpus"), ..TOKENS };
        for typed in ["1", "4x", "1/2x", "1.5x", "16x"] {
            assert!(threads.check(typed, "points").is_ok(), "{typed}");
        }
        for typed in ["0", "0x", "x", "-1x", "1/0x", "99999x", "NaNx", "1x2", "2 x", ""] {
            let line = threads.check(typed, "points").unwrap_err();
            assert!(line.starts_with("--points"), "{line}");
        }
        let of = |cpus: &str| Parameters::from([("cpus".into(), cpus.into())]);
        let number = |value, cpus| number_of(value, &threads.values, &of(cpus));
        assert_eq!(number("1/2x", "2"), Some(1));
        assert_eq!(number("1/2x", "1"), Some(1));
        assert_eq!(number("16x", "2"), Some(32));
        assert_eq!(number("1.5x", "3"), Some(5));
        assert_eq!(number("7", "2"), Some(7));
    }

    #[test]
    fn a_text_may_hold_commas_and_is_one_line() {
        let text = Parameter { values: Values::Text, ..TOKENS };
        assert_eq!(
            text.check("make -j{jobs} CC=a,b", "command"),
            Ok("make -j{jobs} CC=a,b".into())
        );
        assert!(text.check("a\nb", "command").is_err());
    }

    #[test]
    fn a_folder_is_kept_as_its_whole_path() {
        let tree = Parameter { values: Values::FolderOr("generated"), ..TOKENS };
        assert_eq!(tree.check("generated", "tree"), Ok("generated".into()));
        assert_eq!(tree.check("/usr/src/linux", "tree"), Ok("/usr/src/linux".into()));
        let here = std::env::current_dir().unwrap().join("linux").display().to_string();
        assert_eq!(tree.check("linux", "tree"), Ok(here));
        assert!(tree.check("", "tree").is_err());
    }

    #[test]
    fn numbers_are_read_as_people_type_them() {
        assert_eq!(whole_number("9k"), Ok(9_000));
        assert_eq!(whole_number("1M"), Ok(1_000_000));
        assert_eq!(whole_number("1_000"), Ok(1_000));
        assert!(whole_number("99999999999999M").unwrap_err().contains("too large"));
        assert!(whole_number("1.5k").is_err());
    }
}
