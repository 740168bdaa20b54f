//! Kegel's table, and what he found in it.
//!
//! Source: Dan Kegel, Poller_bench (2000): microseconds per wait and dispatch with one active pipe
//! of 100, 1,000, 10,000 and (FreeBSD) 30,000. One figure per point, no repetition.

use analysis::growth::classify;
use analysis::growth::levels::Level;
use analysis::{Class, Growth};

/// Kernel, mechanism, microseconds by pipes.
type Series = (&'static str, &'static str, &'static [(u64, f64)]);

/// Every series of the table; select has a single point.
const TABLE: [Series; 9] = [
    ("SunOS 5.7", "poll", &[(100, 470.0), (1000, 676.0), (10_000, 3742.0)]),
    ("SunOS 5.7", "/dev/poll", &[(100, 61.0), (1000, 70.0), (10_000, 92.0)]),
    ("Solaris 8", "poll", &[(100, 273.0), (1000, 388.0), (10_000, 1559.0)]),
    ("Solaris 8", "/dev/poll", &[(100, 27.0), (1000, 28.0), (10_000, 34.0)]),
    ("Linux 2.2.14", "poll", &[(100, 23.0), (1000, 890.0), (10_000, 11_333.0)]),
    ("Linux 2.2.14", "/dev/poll", &[(100, 19.0), (1000, 146.0), (10_000, 4264.0)]),
    ("Linux 2.4.0-test10", "poll", &[(100, 49.0), (1000, 1184.0), (10_000, 14_660.0)]),
    ("FreeBSD 4.x", "poll", &[(100, 50.0), (1000, 552.0), (10_000, 11_559.0), (30_000, 35_178.0)]),
    ("FreeBSD 4.x", "kqueue", &[(100, 8.0), (1000, 8.0), (10_000, 8.0), (30_000, 8.0)]),
];

fn growth(kernel: &str, mechanism: &str) -> Growth {
    let (_, _, figures) =
        TABLE.iter().find(|(k, m, _)| (*k, *m) == (kernel, mechanism)).expect("a row of the table");
    let level = |&(point, figure): &(u64, f64)| Level::new(point, figure.ln(), None);
    classify(&figures.iter().map(level).collect::<Vec<_>>())
}

/// Three single figures can't tell n from n log n.
fn is_linear(growth: &Growth) -> bool {
    [Class::Linear, Class::AtLeastLinear].contains(&growth.class)
}

#[test]
fn kqueue_is_constant() {
    let growth = growth("FreeBSD 4.x", "kqueue");
    assert_eq!((growth.class, growth.from, growth.to), (Class::Constant, 100, 30_000));
    assert!((growth.factor.value - 1.0).abs() < 1e-12);
}

#[test]
fn poll_is_linear_on_every_kernel_where_it_grew_by_hundreds() {
    for kernel in ["Linux 2.2.14", "Linux 2.4.0-test10", "FreeBSD 4.x"] {
        let growth = growth(kernel, "poll");
        assert!(is_linear(&growth), "{kernel}: {growth:?}");
        assert_eq!(growth.reason, None);
    }
    let solaris = growth("Solaris 8", "poll");
    assert!(solaris.classes.contains(&Class::Linear), "{solaris:?}");
}

/// 19, 146, 4264: he says that it grows with the idle pipes too. Nothing in three figures contradicts
/// linear with a step, and every other order is far from them.
#[test]
fn the_first_dev_poll_of_linux_is_linear() {
    let growth = growth("Linux 2.2.14", "/dev/poll");
    assert!(is_linear(&growth), "{growth:?}");
}

#[test]
fn growth_factors_are_those_of_the_table() {
    let expected = [
        ("SunOS 5.7", "poll", 7.96),
        ("SunOS 5.7", "/dev/poll", 1.51),
        ("Solaris 8", "poll", 5.71),
        ("Solaris 8", "/dev/poll", 1.26),
        ("Linux 2.2.14", "poll", 493.0),
        ("Linux 2.2.14", "/dev/poll", 224.0),
        ("Linux 2.4.0-test10", "poll", 299.0),
        ("FreeBSD 4.x", "poll", 704.0),
        ("FreeBSD 4.x", "kqueue", 1.0),
    ];
    for (kernel, mechanism, factor) in expected {
        let off = growth(kernel, mechanism).factor.value / factor - 1.0;
        assert!(off.abs() < 0.004, "{kernel} {mechanism}: {off}");
    }
}

/// Three single figures that rise by half or a quarter: that may be noise.
#[test]
fn dev_poll_of_solaris_is_undecided() {
    for kernel in ["SunOS 5.7", "Solaris 8"] {
        let growth = growth(kernel, "/dev/poll");
        assert!([Class::Undecided, Class::Grows].contains(&growth.class), "{kernel}: {growth:?}");
    }
}
