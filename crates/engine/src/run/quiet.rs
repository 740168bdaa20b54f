//! Whether the machine was quiet before the first cell: disturbances as warnings, each with its remedy.

use model::{Host, Warning};

/// What else uses the CPUs, as a sentence; none where nothing does.
pub fn busy(host: &Host) -> Option<String> {
    loaded(host).or_else(|| process(host).map(|(what, _)| what))
}

fn loaded(host: &Host) -> Option<String> {
    let (load, cpus) = (host.number("load.1m")?, host.number("cpu.count")?);
    let cpus_text = printable::quantity(cpus as u64, "CPU");
    let what = format!("The machine was busy before it began (load {load} on {cpus_text}).");
    (load > 0.5 * cpus).then_some(what)
}

fn process(host: &Host) -> Option<(String, &str)> {
    let (name, percent) = (host.fact("busiest.process")?, host.number("busiest.percent")?);
    Some((format!("{name} used {percent} % of a CPU just before the first cell."), name))
}

pub(crate) fn before(host: &Host) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(what) = loaded(host) {
        let remedy = "end what else runs (knee doctor names it), or measure again later";
        warnings.push(warning(what, remedy));
    }
    if let Some((what, name)) = process(host) {
        let remedy = format!("end {name}, or pin the run to another CPU: --pin");
        warnings.push(warning(what, remedy));
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
        let quiet = host(0.1, 0.0, &[("clock.source", "tsc")]);
        assert_eq!((before(&quiet), busy(&quiet)), (Vec::new(), None));
    }

    #[test]
    fn each_disturbance_is_named_with_a_remedy() {
        let noisy =
            [("clock.source", "hpet"), ("cpu.governor", "powersave"), ("busiest.process", "cc1")];
        let warnings = before(&host(4.1, 97.0, &noisy));
        assert_eq!(warnings.len(), 4, "{warnings:?}");
        assert!(warnings[0].what.contains("load 4.1 on 2 CPUs"));
        assert_eq!(busy(&host(4.1, 97.0, &noisy)).as_ref(), Some(&warnings[0].what));
        let process = busy(&host(0.1, 97.0, &noisy));
        assert_eq!(process.as_ref(), Some(&warnings[1].what), "a load is a minute old");
        assert!(warnings.iter().all(|warning| !warning.remedy.is_empty()));
    }
}
