//! What the execution of a plan needs besides the plan.

use crate::calibrate::Calibrated;
use crate::run::stop::Stop;
use record::{CellKey, Value};
use std::collections::BTreeMap;

/// What the execution of a plan needs besides the plan.
#[derive(Debug)]
pub struct Settings {
    /// The clock, calibrated in this process.
    pub clock: Calibrated,
    /// Ends the run early.
    pub stop: Stop,
    /// Values with a password, by their text in the plan, which has none.
    pub secrets: Secrets,
    mark: String,
}

impl Settings {
    /// The mark of the workers of this process, and of no other's.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Settings for this process.
    pub fn new(clock: Calibrated, stop: Stop) -> Settings {
        let mark = format!("{}-{:016x}", std::process::id(), fastrand::u64(..));
        Settings { clock, stop, secrets: Secrets::default(), mark }
    }
}

/// Values of parameters with user names and passwords in URLs. Plans and records have them without; only
/// workers get them as they were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets(BTreeMap<Value, Value>);

impl Secrets {
    /// The value as a plan may hold it. What is removed from it is kept here.
    ///
    /// # Errors
    /// With the value as a plan may hold it, where another value has the same text there.
    pub fn hide(&mut self, value: &Value) -> Result<Value, Value> {
        let text = value.to_string();
        let hidden = Value::from(printable::without_user_info(&text).as_ref());
        if hidden == text.as_str() {
            return Ok(value.clone());
        }
        match self.0.insert(hidden.clone(), value.clone()) {
            Some(previous) if previous != *value => Err(hidden),
            _ => Ok(hidden),
        }
    }

    /// The key with the values that its worker needs.
    pub(crate) fn reveal(&self, key: &CellKey) -> CellKey {
        let mut key = key.clone();
        for value in key.parameters.values_mut() {
            if let Some(secret) = self.0.get(value) {
                value.clone_from(secret);
            }
        }
        key
    }
}
