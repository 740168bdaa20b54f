//! What became of the requests of a load, as facts of its last cell: intervals have only what ended in them.

use std::collections::BTreeMap;

const REQUESTS: &str = "requests";
const REPLIES: &str = "replies";
const UNSENT: &str = "never sent";
const UNFINISHED: &str = "unfinished";
const WAITED: &str = "waited for a connection";
const CONNECTIONS: &str = "connections opened";
const ERRORS: &str = "errors: ";

/// The counts of a whole load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadCounts {
    /// Requests that were sent.
    pub requests: u64,
    /// Whole replies.
    pub replies: u64,
    /// Requests that were due and never sent.
    pub unsent: u64,
    /// Requests that were in flight at the end.
    pub unfinished: u64,
    /// Requests that waited for a free connection.
    pub waited: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// Errors by kind.
    pub errors: BTreeMap<String, u64>,
}

impl LoadCounts {
    /// A fact for each count; of errors for each kind that there was.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let counts = [
            (REQUESTS, self.requests),
            (REPLIES, self.replies),
            (UNSENT, self.unsent),
            (UNFINISHED, self.unfinished),
            (WAITED, self.waited),
            (CONNECTIONS, self.connections),
        ];
        let counts = counts.map(|(name, count)| (name.to_owned(), count));
        let errors = self.errors.iter().filter(|(_, count)| **count > 0);
        let errors = errors.map(|(kind, count)| (format!("{ERRORS}{kind}"), *count));
        counts.into_iter().chain(errors).map(|(name, count)| (name, count.to_string())).collect()
    }

    /// The counts that facts are of; none of a cell that is not the last one of a load.
    pub fn from_facts(facts: &BTreeMap<String, String>) -> Option<LoadCounts> {
        let count = |name: &str| facts.get(name)?.parse().ok();
        let errors = facts.iter().filter_map(|(name, text)| {
            Some((name.strip_prefix(ERRORS)?.to_owned(), text.parse().ok()?))
        });
        Some(LoadCounts {
            requests: count(REQUESTS)?,
            replies: count(REPLIES)?,
            unsent: count(UNSENT).unwrap_or(0),
            unfinished: count(UNFINISHED).unwrap_or(0),
            waited: count(WAITED).unwrap_or(0),
            connections: count(CONNECTIONS).unwrap_or(0),
            errors: errors.collect(),
        })
    }

    /// All errors.
    pub fn errors_total(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Requests without a whole reply, those that were never sent among them.
    pub fn without_reply(&self) -> u64 {
        (self.requests + self.unsent).saturating_sub(self.replies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_back_from_their_facts() {
        let errors = [("refused", 3), ("reset", 0), ("time-out", 2)];
        let errors = errors.map(|(kind, count)| (kind.to_owned(), count)).into();
        let counts =
            LoadCounts { requests: 90, replies: 80, unsent: 10, errors, ..Default::default() };
        let facts = counts.facts();
        assert_eq!((facts["never sent"].as_str(), facts["errors: time-out"].as_str()), ("10", "2"));
        assert!(!facts.contains_key("errors: reset"));
        let read = LoadCounts::from_facts(&facts).unwrap();
        assert_eq!((read.errors_total(), read.without_reply()), (5, 20));
        assert_eq!(read.facts(), facts);
        assert_eq!(LoadCounts::from_facts(&BTreeMap::new()), None);
    }
}
