//! The parameters that `fork` and `reap` share.

use engine::{Defaults, Parameter, Sweep, Values};

/// The axis.
pub(crate) const PROCESSES: Parameter = Parameter {
    name: "processes",
    about: "processes alive at once",
    values: Values::AtLeast(1),
    default: Defaults::always(&["100"]),
    sweep: Some(Sweep::new("processes", &["500"], &["5k"])),
};

/// How large the program is that forks.
pub(crate) const PARENT: Parameter = Parameter {
    name: "parent",
    about: "memory in MiB that the parent has touched before it forks, in pages of the usual size",
    values: Values::Between(0, 1 << 20),
    default: Defaults::always(&["0"]),
    sweep: Some(Sweep::new(
        "MiB of the parent",
        &["1", "16", "256"],
        &["1", "4", "16", "64", "256", "1k"],
    )),
};
