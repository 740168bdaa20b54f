//! Whether the machine was quiet before the first cell: disturbances as warnings, each with its remedy.

use model::{Host, Warning};

/// What can be seen before the first cell.
pub(crate) fn before(host: &Host) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let (Some(load), Some(cpus)) = (host.number("load.1m"), host.number("cpu.count"))
        && load > 0.5 * cpus
    {
        let cpus = printable::quantity(cpus as u64, "CPU");
        let what = format!("The machine was busy before it began (load {load} on {cpus}).");
        warnings.push(warning(
            what,
            "end what else runs (knee doctor names it), or measure again later",
        ));
    }
    if let (Some(name), Some(percent)) =
        (host.fact("busiest.process"), host.number("busiest.percent"))
    {
        let what = format!("{name} used {percent} % of a CPU just before the first cell.");
        warnings.push(warning(what, format!("end {name}, or pin the run to another CPU: --pin")));
    }
    if let Some(governor) = host.fact("cpu.governor")
        && governor != "performance"
    {
        let what = format!("The CPUs' frequency follows the load (governor {governor}).");
        warnings.push(warning(what, "knee doctor --fix governor"));
    }
    if let Some(source) = host.fact("clock.source")
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

    /// A machine of two CPUs with this load.
    fn host(load: f64, busiest_percent: f64, facts: &[(&str, &str)]) -> Host {
        let mut host = fixtures::host("", facts.iter().copied());
        let busiest = ("busiest.percent", busiest_percent);
        let numbers = [("load.1m", load), ("cpu.count", 2.0), busiest];
        host.facts.extend(numbers.map(|(key, number)| (key.to_owned(), number.into())));
        host
    }

    #[test]
    fn a_quiet_machine_gives_no_warning() {
        assert_eq!(before(&host(0.1, 0.0, &[("clock.source", "tsc")])), []);
    }

    #[test]
    fn each_disturbance_is_named_with_a_remedy() {
        let noisy =
            [("clock.source", "hpet"), ("cpu.governor", "powersave"), ("busiest.process", "cc1")];
        let warnings = before(&host(4.1, 97.0, &noisy));
        assert_eq!(warnings.len(), 4, "{warnings:?}");
        assert!(warnings[0].what.contains("load 4.1 on 2 CPUs"));
        assert!(warnings.iter().all(|warning| !warning.remedy.is_empty()));
    }
}
