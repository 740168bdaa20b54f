//! Whether the machine was quiet: disturbances as warnings, each with its remedy.

use record::{CpuShares, Host, HostDifference, HostRole, Warning};

/// What can be seen before the first cell.
pub(crate) fn before(host: &Host) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let number = |key: &str| host.facts.get(key).and_then(|text| text.parse::<f64>().ok());
    let word = |key: &str| host.facts.get(key).map(String::as_str);
    if let (Some(load), Some(cpus)) = (number("load.1m"), number("cpu.count"))
        && load > 0.5 * cpus
    {
        let what = format!("The machine was busy before it began (load {load} on {cpus} CPUs).");
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

/// From this share of stolen CPU time on there is a warning.
const STEAL_SHARE_MAX: f64 = 0.01;
/// From this share of the CPUs that other processes used on there is one.
const OTHERS_SHARE_MAX: f64 = 0.10;

/// What disturbed the machine between two looks at it, while what was measured there used `own_ns` of CPU
/// time.
pub fn during(before: &Host, after: &Host, own_ns: u64) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let shares = CpuShares::new(before, after, own_ns);
    if let Some(CpuShares { steal, .. }) = shares
        && steal > STEAL_SHARE_MAX
    {
        let percent = 100.0 * steal;
        let what = format!("The hypervisor took {percent:.1} % of the CPU time away (steal).");
        warnings.push(warning(what, "measure on a host that is not shared, or when it is quiet"));
    }
    if let Some(CpuShares { other_processes, .. }) = shares
        && other_processes > OTHERS_SHARE_MAX
    {
        let percent = 100.0 * other_processes;
        let what = format!("Other processes used {percent:.0} % of the CPUs meanwhile.");
        let remedy = "end what else runs (knee doctor names it), then measure again";
        warnings.push(warning(what, remedy));
    }
    for HostDifference { key, first, second } in before.differing(after, HostRole::Constant) {
        let what = format!("The machine changed during the run: {key} was {first}, is {second}.");
        warnings.push(warning(what, "measure it all again on one machine"));
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
        assert_eq!(during(&quiet, &quiet, 0), []);
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

    #[test]
    fn steal_and_a_changed_kernel_are_seen() {
        let ticks = |steal, total, kernel| {
            host(&[
                ("cpu.ticks.steal", steal),
                ("cpu.ticks.total", total),
                ("kernel.release", kernel),
            ])
        };
        let warnings = during(&ticks("100", "1000", "6.1"), &ticks("150", "2000", "6.2"), 0);
        assert!(warnings[0].what.contains("5.0 %"), "{warnings:?}");
        assert!(warnings[1].what.contains("was 6.1, is 6.2"), "{warnings:?}");
        assert_eq!(during(&ticks("100", "1000", "6.1"), &ticks("105", "2000", "6.1"), 0), []);
    }

    #[test]
    fn what_others_used_is_distinguished_from_what_the_run_used() {
        let ticks = |idle, total| {
            host(&[("cpu.ticks.idle", idle), ("cpu.ticks.steal", "0"), ("cpu.ticks.total", total)])
        };
        // 500 of 1,000 ticks were busy; the run used 4.5 s of those 5 s, or none of them.
        let (before, after) = (ticks("0", "0"), ticks("500", "1000"));
        assert_eq!(during(&before, &after, 4_500_000_000), []);
        let warnings = during(&before, &after, 0);
        assert!(warnings[0].what.contains("used 50 % of the CPUs"), "{warnings:?}");
    }
}
