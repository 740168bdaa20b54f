//! What resuming a plan needs, and what it would run.

use crate::{Host, Plan};

/// The parameter whose values are commands: that of `build`.
const COMMAND: &str = "command";

impl Plan {
    /// A value or a text of it that had a user name or password, which no record has and its workers need.
    pub fn without_password(&self) -> Option<String> {
        let values = self.cells.iter().flat_map(|key| key.parameters.values());
        let customs = || self.workloads.iter().filter_map(|workload| workload.custom.as_ref());
        let words = customs().flat_map(|custom| custom.words.values().flatten());
        let texts = customs().flat_map(|custom| custom.texts()).map(str::to_owned);
        let figures = customs().flat_map(|custom| &custom.figures);
        let patterns = figures.map(|figure| figure.pattern.clone());
        let mut all = values.chain(words).map(ToString::to_string).chain(texts).chain(patterns);
        all.find(|text| printable::is_without_user_info(text))
    }

    /// Whether its workers run commands that stand in it.
    fn has_commands(&self) -> bool {
        self.workloads.iter().any(|workload| workload.custom.is_some())
            || self.cells.iter().any(|key| key.parameters.contains_key(COMMAND))
    }

    /// Whether it has commands of which nobody can say on which machine they were written: the run began on `began`,
    /// and may go on `here`. Without that, the first one has to have a name.
    pub fn has_commands_of_nowhere(&self, began: &Host, here: Option<&Host>) -> bool {
        let is_known = match here {
            Some(here) => began.is_same_machine(here) == Some(true),
            None => began.has_machine_id(),
        };
        self.has_commands() && !is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CellKey, Custom, HOST_ID, HOST_NAME, PrintedFigure, Template, WorkloadInfo};

    fn with(custom: Custom) -> Plan {
        let workload = WorkloadInfo { custom: Some(Box::new(custom)), ..WorkloadInfo::default() };
        Plan { workloads: vec![workload], ..Plan::default() }
    }

    fn with_command(text: &str) -> Plan {
        let template = Template { name: "a".into(), text: text.into() };
        with(Custom { commands: vec![template], ..Custom::default() })
    }

    fn key(parameter: &str, value: &str) -> CellKey {
        let mut key = CellKey {
            workload: "build".into(),
            subject: "make".into(),
            parameters: crate::Parameters::new(),
            point: 1,
            round: 0,
        };
        key.parameters.insert(parameter.into(), value.into());
        key
    }

    #[test]
    fn a_password_is_missed_wherever_it_stood() {
        assert_eq!(with_command("curl http://host/{n}").without_password(), None);
        let lacking = "curl http://***@host/{n}";
        assert_eq!(with_command(lacking).without_password().as_deref(), Some(lacking));
        let words = [("to".to_owned(), vec!["http://***@host/".into()])].into();
        assert!(with(Custom { words, ..Custom::default() }).without_password().is_some());
        let pattern = "http://***@host/ ([0-9]+)".to_owned();
        let figures = vec![PrintedFigure { pattern, ..PrintedFigure::default() }];
        assert!(with(Custom { figures, ..Custom::default() }).without_password().is_some());
        let cells = vec![key("url", "http://***@host/")];
        assert!(Plan { cells, ..Plan::default() }.without_password().is_some());
    }

    #[test]
    fn commands_of_no_machine_are_recognised() {
        let host = |id: &str| Host {
            facts: [(HOST_ID.to_owned(), id.to_owned())].into(),
            ..Host::default()
        };
        let named = |name: &str| Host {
            facts: [(HOST_NAME.to_owned(), name.to_owned())].into(),
            ..Host::default()
        };
        let (nowhere, somewhere) = (Host::default(), host("7"));
        let of_build = Plan { cells: vec![key("command", "make")], ..Plan::default() };
        for plan in [with_command("true {n}"), of_build] {
            assert!(plan.has_commands_of_nowhere(&nowhere, None));
            assert!(plan.has_commands_of_nowhere(&nowhere, Some(&somewhere)));
            assert!(plan.has_commands_of_nowhere(&somewhere, Some(&nowhere)));
            assert!(!plan.has_commands_of_nowhere(&somewhere, None));
            assert!(!plan.has_commands_of_nowhere(&somewhere, Some(&somewhere)));
            assert!(plan.has_commands_of_nowhere(&named("a"), Some(&named("b"))));
        }
        assert!(!Plan::default().has_commands_of_nowhere(&nowhere, None));
    }
}
