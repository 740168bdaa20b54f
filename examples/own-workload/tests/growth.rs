//! How a function's cost grows, asserted.

use knee::Class;
use std::collections::BTreeMap;

#[test]
fn a_lookup_in_a_tree_is_at_most_linear() {
    knee::grows("lookup")
        .over([1_000, 3_000, 10_000, 30_000, 100_000])
        .setup(|n| (0..n).map(|key| (key, key)).collect::<BTreeMap<_, _>>())
        .measure(|map| map.get(&700).copied())
        .at_most(Class::Linear);
}
