//! A CPU quota for what a cell starts: a parameter that commands and servers share.

use engine::{
    Cell, Defaults, Failure, MetricInfo, Parameter, Probe, QuotaGroup, Throttling, Value, Values,
};
use std::sync::Arc;

/// The parameter. Cells have it where it is asked for.
pub(crate) const QUOTA: Parameter = Parameter {
    name: engine::QUOTA,
    about: "CPUs that the command, or the server that knee starts, may use, by a control group: 0.5, or none",
    values: Values::Quota,
    default: Defaults::always(&[]),
    sweep: None,
};

/// The names of its metrics.
const SHARE: &str = "throttled";
const TIME: &str = "throttled time";

/// What a quota does to an operation, such as a `run`; cells without a quota have no such figures.
pub(crate) fn metrics(operation: &str) -> [MetricInfo; 2] {
    let stopped = format!("{operation}, in which the quota stopped threads");
    [
        MetricInfo::less(SHARE, "periods in which the quota was used up", "%"),
        MetricInfo::time(TIME, &stopped),
    ]
}

/// The control group of a cell with a quota.
pub(crate) fn group(cell: &Cell) -> Result<Option<Arc<QuotaGroup>>, Failure> {
    let cpus = cell.parameters.get(QUOTA.name).and_then(Value::size);
    let group = cpus.map(QuotaGroup::new).transpose();
    let group = group.map_err(|why| Failure::new(format!("no CPU quota: {why}")))?;
    Ok(group.map(Arc::new))
}

/// What the quota of a group does from one moment on.
pub(crate) struct QuotaWatch {
    group: Arc<QuotaGroup>,
    begun: Throttling,
}

impl QuotaWatch {
    /// From now on, where there is a group.
    pub fn begin(group: Option<&Arc<QuotaGroup>>) -> Result<Option<QuotaWatch>, Failure> {
        let watch = |group: &Arc<QuotaGroup>| {
            Ok(QuotaWatch { group: Arc::clone(group), begun: look(group)? })
        };
        group.map(watch).transpose()
    }

    /// States what it did until now.
    pub fn state(&self, probe: &mut Probe) -> Result<Throttling, Failure> {
        let used = look(&self.group)?.since(&self.begun);
        for (name, count) in used.facts() {
            probe.fact(name, count);
        }
        Ok(used)
    }

    /// The same, and the metrics of so many operations.
    pub fn give(&self, operations: u64, probe: &mut Probe) -> Result<(), Failure> {
        let used = self.state(probe)?;
        probe.given(SHARE, &[100.0 * used.share()], operations);
        let each_ns = used.throttled_us as f64 * 1e3 / operations.max(1) as f64;
        probe.given(TIME, &[each_ns], operations);
        Ok(())
    }
}

fn look(group: &QuotaGroup) -> Result<Throttling, Failure> {
    group.throttling().map_err(|error| Failure::call("reading what the CPU quota did", error))
}
