//! The machine was another after the last cell than before the first.

use super::prelude::*;
use model::{Host, HostDifference, HostFact, HostRole};

/// A fact of the machine that should not change during a run, and did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MachineChanged {
    /// The fact's key.
    pub key: String,
    /// What it was before the first cell.
    pub before: String,
    /// What it is after the last.
    pub after: String,
}

impl MachineChanged {
    /// What changed between two looks at a machine.
    pub(crate) fn between(before: &Host, after: &Host) -> Vec<Self> {
        let of_fact = |HostDifference { key, first, second }: HostDifference<'_>| Self {
            key: key.to_owned(),
            before: first,
            after: second,
        };
        before.differing(after, HostRole::Constant).into_iter().map(of_fact).collect()
    }
}

impl CaveatKind for MachineChanged {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let run = context.run;
        let after = run.host_after.as_ref();
        after.map_or_else(Vec::new, |after| Self::between(&run.host_before, after))
    }

    fn warning(&self) -> Warning {
        let label = HostFact::find(&self.key).map(|(_, fact)| fact.label).unwrap_or_default();
        let name = if label.is_empty() { &self.key } else { label };
        let (before, after) = (&self.before, &self.after);
        Warning {
            what: format!("The machine changed during the run: {name} was {before}, is {after}"),
            remedy: "measure it all again on one machine".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_kernel_is_seen_and_a_changed_load_is_none() {
        let host =
            |kernel, load| fixtures::host("", [("kernel.release", kernel), ("load.1m", load)]);
        let changed = MachineChanged::between(&host("6.1", "0.1"), &host("6.2", "4.0"));
        let lines: Vec<String> = changed.iter().map(|changed| changed.warning().what).collect();
        assert_eq!(lines, ["The machine changed during the run: kernel was 6.1, is 6.2"]);
        assert_eq!(MachineChanged::between(&host("6.1", "0.1"), &host("6.1", "4.0")), []);
    }
}
