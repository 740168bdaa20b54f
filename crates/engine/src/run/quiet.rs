//! Whether the machine was quiet before the first cell: disturbances as warnings, each with its remedy.

use model::{Host, Warning};

/// What can be seen before the first cell.
pub(crate) fn before(host: &Host) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let number = |key: &str| host.facts.get(key).and_then(|text| text.parse::<f64>().ok());
    let word = |key: &str| host.facts.get(key).map(String::as_str);
    if let (Some(load), Some(cpus)) = (number("load.1m"), number("cpu.count"))
        && load > 0.5 * cpus
    {
        let cpus = printable::quantity(cpus as u64, "CPU");
        let what = format!("The machine was busy before it began (load {load} on {cpus}).");
        warnings.push(warning(
            what,
            "end what else runs (knee doctor names it), or measure again later",
        ));
    }
    if let (Some(name), Some(percent)) = (word("busiest.process"), number("busiest.percent")) {
        let what = format!("{name} used {percent} % of a CPU just before the first cell.");
        warnings.push(warning(what, format!("end {name}, or pin the run to another CPU: --pin")));
    }
    if let Some(governor) = word("cpu.governor")
        && governor != "performance"
    {
        let what = format!("The CPUs' frequency follows the load (governor {governor}).");
        warnings.push(warning(what, "knee doctor --fix governor"));
    }
    if let Some(source) = word("clock.source")
        && source != "tsc"
    {
        let what = format!("The kernel's clock source is {source}: reading the clock costs more.");
        warnings.push(warning(what, "boot with clocksource=tsc where the TSC can be trusted"));
    }
    warnings
}

/// A warning whose remedy is `remedy`.
fn warning(what: impl Into<String>, remedy: impl Into<String>) -> Warning {
    Warning { what: what.into(), remedy: remedy.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(facts: &[(&str, &str)]) -> Host {
        fixtures::host("", facts.iter().copied())
    }

    #[test]
    fn a_quiet_machine_gives_no_warning() {
        let quiet = host(&[("load.1m", "0.10"), ("cpu.count", "2"), ("clock.source", "tsc")]);
        assert_eq!(before(&quiet), []);
    }

    #[test]
    fn each_disturbance_is_named_with_a_remedy() {
        let noisy = host(&[
            ("load.1m", "4.1"),
            ("cpu.count", "2"),
            ("clock.source", "hpet"),
            ("cpu.governor", "powersave"),
            ("busiest.process", "cc1"),
            ("busiest.percent", "97"),
        ]);
        let warnings = before(&noisy);
        assert_eq!(warnings.len(), 4, "{warnings:?}");
        assert!(warnings[0].what.contains("load 4.1 on 2 CPUs"));
        assert!(warnings.iter().all(|warning| !warning.remedy.is_empty()));
    }
}
