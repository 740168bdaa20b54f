//! Parameters: what can be varied. Each becomes a flag of `knee run`, and one of them is the axis.

use model::{NO_LIMIT, Parameters, Value};
use std::ops::RangeInclusive;

/// CPUs of a quota. The kernel knows none below a millisecond of its period.
const QUOTA_CPUS: RangeInclusive<f64> = 0.01..=10_000.0;

/// One parameter of a workload.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name, which is also its flag: `active` is `--active`.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What it may be.
    pub values: Values,
    /// Its value by default where it is not the axis.
    pub default: Defaults,
    /// How it grows where it is the axis; absent where it can't be.
    pub sweep: Option<Sweep>,
}

/// What a parameter may be.
#[derive(Clone, Debug)]
pub enum Values {
    /// A whole number, at least this.
    AtLeast(u64),
    /// A whole number from here to there.
    Between(u64, u64),
    /// A whole number, at least 1, or a percentage of that other parameter.
    ShareOf(&'static str),
    /// A whole number, at least 1, or a multiple of that other parameter: `4x`, `1/2x`.
    TimesOf(&'static str),
    /// A size in KiB from here to there: a whole number of them, or with a unit (`48K`, `2MiB`).
    Kibibytes(u64, u64),
    /// How many of the CPUs that a run may use, or `all` of them.
    Cpus,
    /// A CPU quota: a number of CPUs, which may be a decimal, or `none`.
    Quota,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Any text of one line, which may hold commas.
    Text,
    /// This word, or a directory: kept as its whole path, since a run may be resumed from elsewhere.
    DirectoryOr(&'static str),
}

/// Values that stand in where none was named, as they would be typed.
#[derive(Clone, Debug)]
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
    pub fn values(&self, quick: bool) -> &'static [&'static str] {
        if quick { self.quick } else { self.full }
    }
}

/// How a parameter grows where it is the axis.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// What is counted, for people: `watched descriptors`.
    pub label: &'static str,
    /// Its points by default.
    pub points: Defaults,
}

impl Sweep {
    /// With these points with `--quick`, and those otherwise.
    pub const fn new(
        label: &'static str,
        quick: &'static [&'static str],
        full: &'static [&'static str],
    ) -> Sweep {
        Sweep { label, points: Defaults { quick, full } }
    }
}

impl Parameter {
    /// What it counts, for people; its name where it can't be the axis.
    pub fn label(&self) -> &'static str {
        self.sweep.as_ref().map_or(self.name, |sweep| sweep.label)
    }

    /// Reads a value as typed after a flag or as it stands in knee.toml. [`Parameter::check`] says whether
    /// it may be.
    pub fn read(&self, typed: &str) -> Value {
        match self.values {
            Values::Text | Values::DirectoryOr(_) | Values::OneOf(_) => Value::from(typed.trim()),
            Values::Kibibytes(..) => kibibytes(typed.trim()),
            _ => Value::typed(typed),
        }
    }

    /// Checks one value of the flag `--{flag}` and returns it as the record keeps it, or says in one line
    /// what it may be.
    pub fn check(&self, value: &Value, flag: &str) -> Result<Value, String> {
        match (&self.values, value) {
            (
                Values::AtLeast(_)
                | Values::Between(..)
                | Values::Kibibytes(..)
                | Values::ShareOf(_)
                | Values::TimesOf(_)
                | Values::Cpus,
                Value::Number(_),
            ) => self.within_bounds(value, flag),
            (Values::ShareOf(_), Value::Share(_)) | (Values::TimesOf(_), Value::Multiple(_)) => {
                Ok(value.clone())
            }
            (Values::Cpus, Value::Word(word)) if word == "all" => Ok(value.clone()),
            (Values::ShareOf(whole), _) if value.text().ends_with('%') => {
                Err(format!("--{flag}: `{value}` is not above 0% and at most 100% of {whole}"))
            }
            (Values::TimesOf(whole), _) if value.text().ends_with('x') => Err(format!(
                "--{flag}: `{value}` is no multiple of {whole} (such as 4x, 1.5x or 1/2x)"
            )),
            (Values::Text | Values::DirectoryOr(_), _) if value.text().contains(['\n', '\r']) => {
                Err(format!("--{flag} is one line, and this is several"))
            }
            (Values::DirectoryOr(word), _) if value != word => absolute(&value.text(), flag),
            (Values::Text | Values::DirectoryOr(_), _) => Ok(value.clone()),
            (Values::Quota, _)
                if value.word() == Some(NO_LIMIT)
                    || value.size().is_some_and(|cpus| QUOTA_CPUS.contains(&cpus)) =>
            {
                Ok(value.clone())
            }
            (Values::Quota, _) => Err(format!(
                "--{flag}: `{value}` is no number of CPUs from {} to {} (such as 0.5), nor {NO_LIMIT}",
                QUOTA_CPUS.start(),
                QUOTA_CPUS.end()
            )),
            (Values::Kibibytes(..), _) => Err(format!(
                "--{flag}: `{value}` is not a whole number of KiB (such as 64, 48K or 2M)"
            )),
            (Values::OneOf(words), _) if words.contains(&&*value.text()) => Ok(value.clone()),
            (Values::OneOf(words), _) => {
                Err(format!("--{flag} is one of {}, not `{value}`", words.join(", ")))
            }
            _ => Err(match quantities::count(&value.text()) {
                Err(why) => format!("--{flag}: {why}"),
                Ok(_) => format!("--{flag}: `{value}` is not a whole number"),
            }),
        }
    }

    fn within_bounds(&self, value: &Value, flag: &str) -> Result<Value, String> {
        let (min, max) = match self.values {
            Values::AtLeast(min) => (min, quantities::COUNT_MAX),
            Values::Between(min, max) | Values::Kibibytes(min, max) => (min, max),
            _ => (1, quantities::COUNT_MAX),
        };
        match value.number() {
            Some(number) if number < min => {
                Err(format!("--{flag} is at least {min}, not {number}"))
            }
            Some(number) if number > max => Err(format!("--{flag} is at most {max}, not {number}")),
            _ => Ok(value.clone()),
        }
    }

    /// The number that a checked value stands for among all the `parameters`; none if it is a word.
    pub fn number(&self, value: &Value, parameters: &Parameters) -> Option<u64> {
        match self.values {
            Values::ShareOf(whole) | Values::TimesOf(whole) if value.factor().is_some() => {
                value.resolve(parameters.get(whole)?.number()?)
            }
            _ => value.number(),
        }
    }

    /// What it may be, in words: `at least 1`, `poll, epoll`.
    pub fn possible(&self) -> String {
        match self.values {
            Values::AtLeast(min) => format!("{min} or more"),
            Values::Between(min, max) => format!("{min} to {max}"),
            Values::Kibibytes(min, max) => format!("{min} to {max} KiB"),
            Values::ShareOf(whole) => format!("1 or more, or a percentage of {whole}"),
            Values::TimesOf(whole) => format!("1 or more, or a multiple of {whole} such as 4x"),
            Values::Cpus => "1 or more, or all".to_owned(),
            Values::Quota => format!("a number of CPUs, or {NO_LIMIT}"),
            Values::OneOf(words) => words.join(", "),
            Values::Text => "a text".to_owned(),
            Values::DirectoryOr(word) => format!("a directory, or {word}"),
        }
    }
}

/// A number of KiB as it stands, or one of bytes with its unit; any other text stays a word.
fn kibibytes(typed: &str) -> Value {
    match quantities::bytes(typed) {
        Ok(bytes) if bytes.is_multiple_of(1 << 10) => Value::Number(bytes as u64 >> 10),
        _ => Value::from(typed),
    }
}

fn absolute(typed: &str, flag: &str) -> Result<Value, String> {
    std::path::absolute(typed)
        .map(|path| Value::from(path.display().to_string()))
        .map_err(|error| format!("--{flag}: `{typed}`: {error}"))
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

    fn check(parameter: &Parameter, typed: &str) -> Result<Value, String> {
        parameter.check(&parameter.read(typed), "points")
    }

    #[test]
    fn a_share_is_a_percentage_or_a_number() {
        for typed in ["1", "9k", "10%", "0.1%", "100%"] {
            assert!(check(&TOKENS, typed).is_ok(), "{typed}");
        }
        for typed in ["0", "0%", "101%", "-1%", "%", "ten%", "NaN%", "1.5", "4x", ""] {
            let line = check(&TOKENS, typed).unwrap_err();
            assert!(line.starts_with("--points"), "{line}");
        }
    }

    #[test]
    fn a_multiple_is_a_factor_or_a_number() {
        let threads = Parameter { values: Values::TimesOf("cpus"), ..TOKENS };
        for typed in ["1", "4x", "1/2x", "1.5x", "16x"] {
            assert!(check(&threads, typed).is_ok(), "{typed}");
        }
        for typed in ["0", "0x", "x", "-1x", "1/0x", "99999x", "NaNx", "1x2", "2 x", "10%", ""] {
            let line = check(&threads, typed).unwrap_err();
            assert!(line.starts_with("--points"), "{line}");
        }
    }

    #[test]
    fn a_part_of_another_parameter_becomes_a_number() {
        let parameters = |name: &str| Parameters::from([(name.into(), Value::Number(9_988))]);
        let number = |text, whole| TOKENS.number(&Value::from(text), &parameters(whole));
        assert_eq!(number("10%", "pipes"), Some(999));
        assert_eq!(number("25", "pipes"), Some(25));
        assert_eq!(number("10%", "cpus"), None);
        let object = Parameter { values: Values::OneOf(&["pipe"]), ..TOKENS };
        assert_eq!(object.number(&Value::from("pipe"), &parameters("pipes")), None);
    }

    #[test]
    fn a_number_keeps_within_its_bounds() {
        let between = Parameter { values: Values::Between(2, 9), ..TOKENS };
        assert_eq!(check(&between, "9"), Ok(Value::Number(9)));
        assert_eq!(check(&between, "1").unwrap_err(), "--points is at least 2, not 1");
        assert_eq!(check(&between, "1k").unwrap_err(), "--points is at most 9, not 1000");
        assert!(check(&between, "50%").unwrap_err().contains("not a whole number"));
    }

    #[test]
    fn a_size_is_a_number_of_kib_or_has_a_unit() {
        let size = Parameter { values: Values::Kibibytes(4, 1 << 20), ..TOKENS };
        for (typed, kib) in [("4", 4), ("48K", 48), ("48k", 48), ("2MiB", 2048), ("4096B", 4)] {
            assert_eq!(check(&size, typed), Ok(Value::Number(kib)), "{typed}");
        }
        for typed in ["1000B", "48q", "", "-4", "1.5", "50%"] {
            let line = check(&size, typed).unwrap_err();
            assert!(line.contains("is not a whole number of KiB"), "{line}");
        }
        assert_eq!(check(&size, "2G").unwrap_err(), "--points is at most 1048576, not 2097152");
    }

    #[test]
    fn cpus_are_a_number_or_all() {
        let cpus = Parameter { values: Values::Cpus, ..TOKENS };
        assert_eq!(check(&cpus, "all"), Ok("all".into()));
        assert_eq!(check(&cpus, "2"), Ok(Value::Number(2)));
        assert!(check(&cpus, "some").is_err() && check(&cpus, "0").is_err());
    }

    #[test]
    fn a_quota_is_a_number_of_cpus_or_none() {
        let quota = Parameter { values: Values::Quota, ..TOKENS };
        for typed in ["0.5", "2", "0.01", "none"] {
            assert_eq!(check(&quota, typed).map(|value| value.to_string()), Ok(typed.to_owned()));
        }
        for typed in ["0", "0.001", "-1", "50%", "all", "1e9", ""] {
            let line = check(&quota, typed).unwrap_err();
            assert!(line.contains("is no number of CPUs from 0.01 to 10000"), "{line}");
        }
    }

    #[test]
    fn a_text_may_hold_commas_and_is_one_line() {
        let text = Parameter { values: Values::Text, ..TOKENS };
        let command = "make -j{jobs} CC=a,b";
        assert_eq!(check(&text, command), Ok(command.into()));
        assert_eq!(check(&text, "9k"), Ok("9k".into()));
        assert!(check(&text, "a\nb").is_err());
    }

    #[test]
    fn a_directory_is_kept_as_its_whole_path() {
        let tree = Parameter { values: Values::DirectoryOr("generated"), ..TOKENS };
        assert_eq!(check(&tree, "generated"), Ok("generated".into()));
        assert_eq!(check(&tree, "/usr/src/linux"), Ok("/usr/src/linux".into()));
        let here = std::env::current_dir().unwrap().join("linux").display().to_string();
        assert_eq!(check(&tree, "linux"), Ok(here.into()));
        assert!(check(&tree, "").is_err());
    }
}
