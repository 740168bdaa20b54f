//! Whether a run can go on where it stopped: the one decision of `knee run --resume` and of what completes a run.

use crate::caveats::run_incomplete::Completion;
use model::{CellKey, Host, HostRole, Plan, Run};

/// Why `run` can't go on, on the machine `here` or else on the one where it began, as the end of a sentence; and what
/// completes it instead.
pub fn obstacle(run: &Run, here: Option<&Host>) -> Option<(String, Completion)> {
    use Completion::{MeasureAgain, MeasureBoth, ResumeElsewhere, ResumeOnHost};
    let (began, plan) = (&run.host_before, &run.plan);
    let is_same = here.and_then(|here| began.is_same_machine(here));
    let is_known = is_same == Some(true) || here.is_none() && began.has_machine_id();
    let (paired_with, password) = (&plan.paired_with, without_password(plan));
    let changes = here.map(|here| began.differing(here, HostRole::Resume)).unwrap_or_default();
    let paired = format!("its cells took turns with those of run {paired_with}");
    let guest = "it was measured in a guest of `knee vm`, which is gone";
    let elsewhere = "it began elsewhere, and a plan of elsewhere is not carried out";
    let nowhere =
        "nothing says that it began on this machine, and commands of elsewhere are not run";
    let no_password =
        password.map(|text| format!("the user name or password in `{text}` was not recorded"));
    let changed = changes
        .first()
        .map(|fact| format!("{} was {} and is {}", fact.key, fact.first, fact.second));
    let says = |applies: bool, text: &str| applies.then(|| text.to_owned());
    let obstacles = [
        (says(!paired_with.is_empty(), &paired), MeasureBoth),
        (says(began.is_guest(), guest), MeasureAgain),
        (says(run.is_load(), "it is a load, which is over"), MeasureAgain),
        // Workers would run the commands in its plan, whose origin is unknown.
        (says(!run.summary.origin.is_empty(), elsewhere), ResumeElsewhere),
        (says(is_same == Some(false), "it began on another machine"), ResumeOnHost),
        (says(!is_known && has_commands(plan), nowhere), MeasureAgain),
        (no_password, MeasureAgain),
        (changed, MeasureAgain),
    ];
    obstacles.into_iter().find_map(|(why, completion)| Some((why?, completion)))
}

/// A value or a text of a plan that had a user name or password.
fn without_password(plan: &Plan) -> Option<String> {
    let values = plan.cells.iter().flat_map(|key| key.parameters.values());
    let customs = || plan.workloads.iter().filter_map(|workload| workload.custom.as_ref());
    let words = customs().flat_map(|custom| custom.words.values().flatten());
    let texts = customs().flat_map(|custom| custom.texts()).map(str::to_owned);
    let figures = customs().flat_map(|custom| &custom.figures);
    let patterns = figures.map(|figure| figure.pattern.clone());
    let mut all = values.chain(words).map(ToString::to_string).chain(texts).chain(patterns);
    all.find(|text| printable::is_without_user_info(text))
}

/// Whether workers run commands that stand in the plan, or may: nothing is known of a workload that it does not describe.
fn has_commands(plan: &Plan) -> bool {
    let is_described = |key: &CellKey| plan.workload(&key.workload).is_some();
    plan.workloads
        .iter()
        .any(|workload| workload.custom.is_some() || !workload.command_parameters.is_empty())
        || !plan.cells.iter().all(is_described)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Custom, HOST_ID, HOST_NAME, Parameters, PrintedFigure, Template, WorkloadInfo};

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
            parameters: Parameters::new(),
            point: 1,
            round: 0,
        };
        key.parameters.insert(parameter.into(), value.into());
        key
    }

    #[test]
    fn a_password_is_missed_wherever_it_stood() {
        assert_eq!(without_password(&with_command("curl http://host/{n}")), None);
        let lacking = "curl http://***@host/{n}";
        assert_eq!(without_password(&with_command(lacking)).as_deref(), Some(lacking));
        let words = [("to".to_owned(), vec!["http://***@host/".into()])].into();
        assert!(without_password(&with(Custom { words, ..Custom::default() })).is_some());
        let pattern = "http://***@host/ ([0-9]+)".to_owned();
        let figures = vec![PrintedFigure { pattern, ..PrintedFigure::default() }];
        assert!(without_password(&with(Custom { figures, ..Custom::default() })).is_some());
        let cells = vec![key("url", "http://***@host/")];
        assert!(without_password(&Plan { cells, ..Plan::default() }).is_some());
    }

    #[test]
    fn commands_of_no_machine_are_recognised() {
        let host = |key: &str, value: &str| Host {
            facts: [(key.to_owned(), value.into())].into(),
            ..Host::default()
        };
        let (nowhere, somewhere) = (Host::default(), host(HOST_ID, "7"));
        let marked =
            WorkloadInfo { command_parameters: vec!["command".into()], ..WorkloadInfo::default() };
        let marked = Plan { workloads: vec![marked], ..Plan::default() };
        let stops = |plan: &Plan, began: &Host, here: Option<&Host>| {
            let mut run = fixtures::run(fixtures::workload("poll")).complete();
            (run.plan, run.host_before) = (plan.clone(), began.clone());
            obstacle(&run, here).is_some_and(|(why, _)| why.starts_with("nothing says that"))
        };
        let undescribed = Plan { cells: vec![key("command", "make")], ..Plan::default() };
        for plan in [with_command("true {n}"), marked, undescribed] {
            assert!(stops(&plan, &nowhere, None));
            assert!(stops(&plan, &nowhere, Some(&somewhere)));
            assert!(stops(&plan, &somewhere, Some(&nowhere)));
            assert!(!stops(&plan, &somewhere, None));
            assert!(!stops(&plan, &somewhere, Some(&somewhere)));
        }
        assert!(!stops(&Plan::default(), &nowhere, None));
        let (amber, birch) = (host(HOST_NAME, "amber"), host(HOST_NAME, "birch"));
        let mut run = fixtures::run(fixtures::workload("poll")).complete();
        (run.plan, run.host_before) = (with_command("true {n}"), amber);
        assert_eq!(obstacle(&run, Some(&birch)).unwrap().1, Completion::ResumeOnHost);
    }
}
