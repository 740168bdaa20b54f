//! The labels of a run.

use crate::exit::Trouble;
use std::collections::BTreeMap;

/// Labels by their keys. A key that is given twice is refused.
pub fn labels(typed: &[(String, String)]) -> Result<BTreeMap<String, String>, Trouble> {
    let mut labels = BTreeMap::new();
    for (key, value) in typed {
        let value = printable::word_without_user_info(value).into_owned();
        if labels.insert(key.clone(), value).is_some() {
            let what = format!("--label {key} is given twice, and a run has each label once");
            return Err(Trouble::usage(what));
        }
    }
    Ok(labels)
}
