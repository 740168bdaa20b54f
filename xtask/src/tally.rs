//! What passed, failed and was skipped, over all steps of a task.

use std::fmt::Write as _;

/// Counts of checks; what failed and what was skipped by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    passed: u64,
    failed: Vec<String>,
    skipped: Vec<String>,
    unsteady: Vec<String>,
    /// Lines of the table of all benches.
    lines: Vec<String>,
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

    /// Counts one that failed and then held, and says so at once.
    pub fn unsteady(&mut self, what: &str, how: &str) {
        println!("UNSTEADY {what}: {how}");
        self.pass(1);
        self.unsteady.push(format!("{what}: {how}"));
    }

    /// Counts one check.
    pub fn check(&mut self, what: &str, holds: bool) {
        if holds {
            self.pass(1);
        } else {
            self.fail(what);
        }
    }

    /// Adds those of another step.
    pub fn add(&mut self, more: Tally) {
        self.passed += more.passed;
        self.failed.extend(more.failed);
        self.skipped.extend(more.skipped);
        self.unsteady.extend(more.unsteady);
        self.lines.extend(more.lines);
    }

    /// Adds a line of the table of all benches: what, its anchor, the ratio, the goal, and whether it was held.
    pub fn line(&mut self, columns: [&str; 5]) {
        self.lines.push(format!("| {} |", columns.join(" | ")));
    }

    /// The lines so far.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// What all checks together say of a goal.
    pub fn outcome(&self) -> &'static str {
        match (self.failed.len(), self.passed, self.skipped.len()) {
            (0, 0, _) => "not measured",
            (0, _, 0) => "held",
            (0, ..) => "undecided",
            _ => "missed",
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
        for what in &self.unsteady {
            let _ = writeln!(text, "UNSTEADY: {what}");
        }
        for what in &self.failed {
            let _ = writeln!(text, "FAILED:  {what}");
        }
        let _ = write!(
            text,
            "{} passed, {} failed, {} skipped",
            self.passed,
            self.failed.len(),
            self.skipped.len()
        );
        if !self.unsteady.is_empty() {
            let _ = write!(text, ", {} unsteady", self.unsteady.len());
        }
        text.push('\n');
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

    #[test]
    fn a_goal_is_held_only_if_nothing_failed_or_was_skipped() {
        let mut tally = Tally::default();
        assert_eq!(tally.outcome(), "not measured");
        tally.pass(1);
        assert_eq!(tally.outcome(), "held");
        tally.skip("a", "undecided");
        assert_eq!(tally.outcome(), "undecided");
        tally.fail("b");
        assert_eq!(tally.outcome(), "missed");
    }

    #[test]
    fn what_failed_first_and_held_then_is_named() {
        let mut tally = Tally::default();
        tally.unsteady("test a", "failed among others");
        assert_eq!(
            tally.summary(),
            "\nUNSTEADY: test a: failed among others\n\
             1 passed, 0 failed, 0 skipped, 1 unsteady\n"
        );
    }
}
