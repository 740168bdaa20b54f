//! What the execution of a plan needs besides the plan.

use crate::calibrate::Calibrated;
use crate::run::stop::Stop;
use model::{Cell, CellKey, Custom, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the execution of a plan needs besides the plan.
#[derive(Debug)]
pub struct Settings {
    /// The clock, calibrated in this process.
    pub clock: Calibrated,
    /// Ends the run early.
    pub stop: Stop,
    /// Values with a password, by where the plan has them without.
    pub secrets: Secrets,
    /// The maximum time of looking up the functions that a worker was in at its deadline.
    pub lookup_max: Duration,
    /// The mark of the workers of this process, and of no other's.
    pub(crate) mark: String,
}

impl Settings {
    /// Settings for this process.
    pub fn new(clock: Calibrated, stop: Stop) -> Settings {
        let mark = format!("{}-{:016x}", std::process::id(), fastrand::u64(..));
        Settings { clock, stop, secrets: Secrets::default(), lookup_max: stacks::LOOKUP_MAX, mark }
    }
}

/// Texts and values of parameters with user names and passwords in URLs. Plans and records have them without;
/// only workers get them as they were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    values: BTreeMap<HiddenValue, Value>,
}

/// Where a plan has a value without its user name or password.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HiddenValue {
    /// The workload that alone has the value; none where all have it.
    workload: Option<String>,
    /// The parameter, or [`TEXT`].
    parameter: String,
    hidden: Value,
}

/// In the place of a parameter's name: a text of a command or a server.
const TEXT: &str = "";

/// Why a value can't be planned without its user name or password: a record would not say what it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HideError {
    /// Another value of the parameter is the same without it: this.
    #[error(
        "`{0}`: two texts differ only in user name or password, which are not recorded; measure one of them"
    )]
    Ambiguous(Value),
    /// It was hidden before: what was typed is what a record shows.
    #[error("`{0}`: *** is where a record has no user name and password; type them")]
    AlreadyHidden(Value),
}

impl Secrets {
    /// Makes a value of `parameter` what a plan may hold, for `workload` alone where one is named. What is removed
    /// from it is kept here.
    ///
    /// # Errors
    /// Where a worker could not get the value back.
    pub fn hide(
        &mut self,
        workload: Option<&str>,
        parameter: &str,
        value: &mut Value,
    ) -> Result<(), HideError> {
        let text = value.to_string();
        if printable::is_without_user_info(&text) {
            return Err(HideError::AlreadyHidden(value.clone()));
        }
        let hidden = Value::from(printable::word_without_user_info(&text).as_ref());
        if hidden == text.as_str() {
            return Ok(());
        }
        let (workload, parameter) = (workload.map(str::to_owned), parameter.to_owned());
        let key = HiddenValue { workload, parameter, hidden: hidden.clone() };
        let typed = std::mem::replace(value, hidden);
        match self.values.insert(key, typed.clone()) {
            Some(previous) if previous != typed => Err(HideError::Ambiguous(value.clone())),
            _ => Ok(()),
        }
    }

    /// The same of each text and value that a user added, to `workload` alone where one is named.
    ///
    /// # Errors
    /// Where a worker could not get one of them back.
    pub fn hide_custom(
        &mut self,
        workload: Option<&str>,
        custom: &mut Custom,
    ) -> Result<(), HideError> {
        for text in custom.texts_mut() {
            let mut value = Value::Word(text.clone());
            // A flag adds to what a suite has for a workload: the texts of both are in one plan.
            self.hide(None, TEXT, &mut value)?;
            *text = value.to_string();
        }
        for (word, values) in &mut custom.words {
            values.iter_mut().try_for_each(|value| self.hide(workload, word, value))?;
        }
        Ok(())
    }

    pub(crate) fn reveal_custom(&self, workload: &str, custom: &Custom) -> Custom {
        let mut custom = custom.clone();
        for text in custom.texts_mut() {
            let mut value = Value::Word(text.clone());
            self.reveal_value(workload, TEXT, &mut value);
            *text = value.to_string();
        }
        for (word, values) in &mut custom.words {
            for value in values {
                self.reveal_value(workload, word, value);
            }
        }
        custom
    }

    fn reveal_value(&self, workload: &str, parameter: &str, value: &mut Value) {
        let secret = |workload: Option<&str>| {
            self.values.get(&HiddenValue {
                workload: workload.map(str::to_owned),
                parameter: parameter.to_owned(),
                hidden: value.clone(),
            })
        };
        if let Some(secret) = secret(Some(workload)).or_else(|| secret(None)) {
            value.clone_from(secret);
        }
    }

    /// The cell with what the plan has in the place of each value, in all that its worker says of it.
    pub(crate) fn conceal(&self, mut cell: Cell) -> Cell {
        if self.values.is_empty() {
            return cell;
        }
        let values = self.values.iter().filter(|(key, _)| key.parameter != TEXT);
        let rule = |text: &str| {
            values.clone().fold(text.to_owned(), |text, (key, value)| {
                text.replace(&value.to_string(), &key.hidden.to_string())
            })
        };
        let texts = (&cell.outcome, &cell.short, &cell.facts);
        // What is JSON can be read from it again.
        if let Ok(Some((outcome, short, facts))) = archive::keeping::changed(&texts, &rule) {
            (cell.outcome, cell.short, cell.facts) = (outcome, short, facts);
        }
        cell
    }

    pub(crate) fn reveal(&self, key: &CellKey) -> CellKey {
        let mut key = key.clone();
        for (parameter, value) in &mut key.parameters {
            self.reveal_value(&key.workload, parameter, value);
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hide(
        secrets: &mut Secrets,
        workload: Option<&str>,
        name: &str,
        value: &str,
    ) -> Result<String, HideError> {
        let mut value = Value::from(value);
        secrets.hide(workload, name, &mut value).map(|()| value.to_string())
    }

    fn revealed(secrets: &Secrets, workload: &str, parameters: &[(&str, &str)]) -> Vec<String> {
        let parameters = parameters.iter().map(|&(name, value)| (name.into(), value.into()));
        let key = CellKey {
            workload: workload.into(),
            subject: "s".into(),
            parameters: parameters.collect(),
            point: 1,
            round: 0,
        };
        secrets.reveal(&key).parameters.values().map(ToString::to_string).collect()
    }

    #[test]
    fn parameters_that_read_the_same_without_passwords_are_two() {
        let mut secrets = Secrets::default();
        let url = "http://***@h/";
        assert_eq!(hide(&mut secrets, None, "from", "http://a:b@h/").as_deref(), Ok(url));
        assert_eq!(hide(&mut secrets, None, "to", "http://c:d@h/").as_deref(), Ok(url));
        assert_eq!(hide(&mut secrets, Some("x"), "to", "http://e:f@h/").as_deref(), Ok(url));
        assert_eq!(hide(&mut secrets, None, "plain", "http://h/").as_deref(), Ok("http://h/"));
        let both = [("from", url), ("to", url)];
        assert_eq!(revealed(&secrets, "w", &both), ["http://a:b@h/", "http://c:d@h/"]);
        assert_eq!(revealed(&secrets, "x", &both), ["http://a:b@h/", "http://e:f@h/"]);
        assert_eq!(revealed(&secrets, "w", &[("plain", url)]), [url]);
    }

    #[test]
    fn what_a_worker_could_not_get_back_is_refused() {
        let mut secrets = Secrets::default();
        let hidden = Value::from("http://***@h");
        hide(&mut secrets, None, "to", "http://a:b@h").unwrap();
        hide(&mut secrets, None, "to", "http://a:b@h").unwrap();
        let ambiguous = hide(&mut secrets, None, "to", "http://a:c@h");
        assert_eq!(ambiguous, Err(HideError::Ambiguous(hidden.clone())));
        let typed = hide(&mut secrets, None, "to", "http://***@h");
        assert_eq!(typed, Err(HideError::AlreadyHidden(hidden)));
    }

    #[test]
    fn what_a_worker_says_has_no_secret_of_the_plan() {
        let mut secrets = Secrets::default();
        hide(&mut secrets, None, "u", "postgres://me:se cret@h/d").unwrap();
        let failed = fixtures::cell("command", "a", 1, 0).failed("postgres://me:se cret@h/d: no");
        let mut cell = Cell::from(failed);
        cell.facts.insert("command".into(), "psql postgres://me:se cret@h/d".into());
        let cell = secrets.conceal(cell);
        assert_eq!(cell.facts["command"], "psql postgres://***@h/d".into());
        assert!(!format!("{cell:?}").contains("cret"), "{cell:?}");
    }
}
