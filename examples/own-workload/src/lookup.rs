//! Which collection finds a key among many?

use knee::{
    About, Cell, Defaults, Failure, MetricInfo, Parameter, Probe, Subject, Sweep, Values, Workload,
    WorkloadInfo, strings,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

pub struct Lookup;

const KEYS: Parameter = Parameter {
    name: "keys",
    about: "keys in the collection",
    values: Values::AtLeast(1),
    default: Defaults::always(&["1000"]),
    sweep: Some(Sweep::new(
        "keys",
        &["10", "100", "1k", "10k"],
        &["10", "100", "1k", "10k", "100k"],
    )),
};

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "lookup".into(),
        question: "Which collection finds a key among many?".into(),
        operation: "look up a key that is there".into(),
        not_measured: strings(["inserting keys", "keys that are not there"]),
        metrics: vec![MetricInfo::time("lookup", "lookup of a key")],
        ..About::plain().info
    },
    parameters: vec![KEYS],
    ..About::plain()
});

impl Workload for Lookup {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        vec![
            Subject::plain("list", "a vector of pairs, looked through from its start"),
            Subject::plain("tree", "BTreeMap"),
            Subject::plain("hash", "HashMap"),
        ]
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let keys = cell.number(KEYS.name)?;
        let pairs = (0..keys).map(|key| (key, !key));
        match cell.subject.as_str() {
            "list" => {
                let list: Vec<_> = pairs.collect();
                let find = |key| list.iter().find(|(at, _)| *at == key).map(|(_, value)| *value);
                lookups(keys, probe, find)
            }
            "tree" => {
                let tree: BTreeMap<_, _> = pairs.collect();
                lookups(keys, probe, |key| tree.get(&key).copied())
            }
            "hash" => {
                let hash: HashMap<_, _> = pairs.collect();
                lookups(keys, probe, |key| hash.get(&key).copied())
            }
            unknown => Err(Failure::new(format!("there is no collection {unknown}"))),
        }
    }
}

/// Keys in an order that no prefetcher knows. What was found is checked outside of the timed region.
fn lookups(keys: u64, probe: &mut Probe, find: impl Fn(u64) -> Option<u64>) -> Result<(), Failure> {
    let mut state = (1_u64, 0_u64);
    let mut expected = 0_u64;
    let mut key = 1_u64;
    let next = |key: u64| key.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    probe.steady(
        "lookup",
        &mut state,
        |(key, sum)| {
            *key = next(*key);
            let value =
                find((*key >> 33) % keys).ok_or_else(|| Failure::new("a key is missing"))?;
            *sum = sum.wrapping_add(value);
            Ok(())
        },
        |(_, sum), operations| {
            for _ in 0..operations {
                key = next(key);
                expected = expected.wrapping_add(!((key >> 33) % keys));
            }
            if *sum == expected { Ok(()) } else { Err(Failure::new("a wrong value was found")) }
        },
    )
}
