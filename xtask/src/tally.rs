//! What passed, failed and was skipped, over all steps of a task.

use std::fmt::Write as _;

/// Counts of checks; what failed and what was skipped by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    passed: u64,
    failed: Vec<String>,
    skipped: Vec<String>,
}

impl Tally {
    /// Counts checks that held.
    pub fn pass(&mut self, count: u64) {
        self.passed += count;
    }

    /// Counts one that didn't.
    pub fn fail(&mut self, what: impl Into<String>) {
        self.failed.push(what.into());
    }

    /// Counts one that could not be made, and says so at once.
    pub fn skip(&mut self, what: &str, why: &str) {
        println!("SKIPPED {what}: {why}");
        self.skipped.push(if why.is_empty() { what.to_owned() } else { format!("{what}: {why}") });
    }

    /// Counts one check.
    pub fn check(&mut self, what: &str, holds: bool) {
        if holds {
            self.pass(1);
        } else {
            self.fail(what);
        }
    }

    /// How many failed.
    pub fn failed(&self) -> usize {
        self.failed.len()
    }

    /// What a task ends with: the names, then `N passed, N failed, N skipped`.
    pub fn summary(&self) -> String {
        let mut text = String::from("\n");
        for what in &self.skipped {
            let _ = writeln!(text, "skipped: {what}");
        }
        for what in &self.failed {
            let _ = writeln!(text, "FAILED:  {what}");
        }
        let _ = writeln!(
            text,
            "{} passed, {} failed, {} skipped",
            self.passed,
            self.failed.len(),
            self.skipped.len()
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_what_failed_and_what_was_skipped() {
        let mut tally = Tally::default();
        tally.pass(3);
        tally.check("links", false);
        tally.check("arrows", true);
        tally.skip("cross illumos", "no rustup");
        assert_eq!(
            tally.summary(),
            "\nskipped: cross illumos: no rustup\nFAILED:  links\n4 passed, 1 failed, 1 skipped\n"
        );
    }
}
