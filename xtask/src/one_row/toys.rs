//! The toys: what a contributor would write, no more.

/// One row of a table, in one file, and where knee must know of it.
pub struct Toy {
    /// `mechanism`, `lock`, `workload`, `finding kind`, `export format` or `import format`.
    pub what: &'static str,
    /// The new file.
    pub file: &'static str,
    /// What is in it.
    pub text: &'static str,
    /// The file whose table gets one line more.
    pub table: &'static str,
    /// The group of the table that the line goes into, where the table has groups.
    pub group: Option<&'static str>,
    /// That line.
    pub row: &'static str,
    /// Arguments of knee, and the word that its output must hold then.
    pub uses: &'static [(&'static [&'static str], &'static str)],
}

/// Every toy: the mechanism `toy`, the lock `toy-lock`, the workload `toy-work`, the finding kind `toy`,
/// the export format `toy-format`, and the import format of `toy-program`. Finding and export show what the
/// workload measured.
pub const ALL: &[&Toy] = &[&MECHANISM, &LOCK, &WORKLOAD, &FINDING, &FORMAT, &IMPORT];

/// A contract test that a toy is held to.
pub struct Contract {
    pub toy: &'static Toy,
    /// The part of the test that is run.
    pub part: &'static str,
    /// What is right in the toy, and what breaks it in its place.
    pub mistake: (&'static str, &'static str),
    /// What the test says of it then.
    pub complaint: &'static str,
}

impl Contract {
    /// The toy's text with the mistake.
    pub fn broken(&self) -> String {
        let (right, wrong) = self.mistake;
        self.toy.text.replace(right, wrong)
    }
}

/// The contract tests: of mechanisms, and of locks.
pub const CONTRACTS: &[Contract] = &[
    Contract {
        toy: &MECHANISM,
        part: "a_descriptor_with_data",
        mistake: ("..super", "open: |_| Err(std::io::Error::other(\"it never opens\")), ..super"),
        complaint: "toy: open: it never opens",
    },
    Contract {
        toy: &LOCK,
        part: "no_thread_enters",
        mistake: ("super::byte::Byte", "super::broken::Broken"),
        complaint: "toy-lock: two were inside at once",
    },
];

const LOCK: Toy = Toy {
    what: "lock",
    file: "crates/locks/src/algorithms/toy.rs",
    text: r#"//! A toy: the byte lock under another name, and as bad.

use crate::{Algorithm, Order, Seatless, Setup, Waiting};

type Inner = super::byte::Byte;

/// The lock.
pub struct Toy(Inner);

impl Seatless for Toy {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "toy-lock",
        summary: "a toy",
        order: Order::Any,
        waiting: Waiting::Spins,
        ..Algorithm::PLAIN
    };

    fn made_for(setup: &Setup) -> Toy {
        Toy(Inner::made_for(setup))
    }

    fn lock(&self) {
        self.0.lock();
    }

    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }

    fn unlock(&self) {
        self.0.unlock();
    }
}
"#,
    table: "crates/locks/src/algorithms.rs",
    group: None,
    row: "toy::Toy",
    uses: &[
        (&["list"], "toy-lock"),
        (&["list", "locks"], "toy-lock"),
        (&["list", "locks", "--json"], "toy-lock"),
        (&["completions", "bash"], "toy-lock"),
        (&["run", "lock", "--subjects", "toy-lock", "--points", "1x", "--rounds", "1"], "toy-lock"),
    ],
};

const MECHANISM: Toy = Toy {
    what: "mechanism",
    file: "crates/readiness/src/mechanisms/toy.rs",
    text: r#"//! A toy: `poll(2)` under another name.

use crate::Mechanism;

pub(crate) const MECHANISM: Mechanism =
    Mechanism { name: "toy", label: "toy", summary: "a toy", ..super::poll::MECHANISM };
"#,
    table: "crates/readiness/src/mechanisms.rs",
    group: None,
    row: "toy",
    uses: &[
        (&["list"], "toy"),
        (&["list", "mechanisms"], "toy"),
        (&["list", "mechanisms", "--json"], "toy"),
        (&["completions", "bash"], "toy"),
        (&["run", "poll", "--subjects", "toy", "--points", "10,100", "--rounds", "1"], "toy"),
        (&["show", "last"], "toy"),
    ],
};

const WORKLOAD: Toy = Toy {
    what: "workload",
    file: "crates/workloads/src/controls/toy.rs",
    text: r#"//! What does adding one cost?
//!
//! One operation is an addition. It does not measure anything else.

use engine::{
    About, Cell, Defaults, Failure, MetricInfo, Parameter, Probe, Subject, Sweep, Values, Workload,
    WorkloadInfo, strings,
};
use std::hint::black_box;
use std::sync::LazyLock;

pub(crate) const WORKLOAD: Toy = Toy;

pub(crate) struct Toy;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "toy-work".into(),
        question: "What does adding one cost?".into(),
        operation: "an addition".into(),
        not_measured: strings(["anything else"]),
        metrics: vec![MetricInfo::time("add", "an addition")],
        ..About::plain().info
    },
    parameters: vec![
        Parameter {
            name: "toys",
            about: "how many toys there are",
            values: Values::AtLeast(1),
            default: Defaults::always(&["1"]),
            sweep: Some(Sweep::new("toys", &["1", "10"], &["1", "10", "100"])),
        },
        Parameter {
            name: "toy-size",
            about: "what is added",
            values: Values::AtLeast(1),
            default: Defaults::always(&["1"]),
            sweep: None,
        },
    ],
    ..About::plain()
});

impl Workload for Toy {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        vec![Subject::plain("plus", "adds one")]
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let size = cell.number("toy-size")?;
        let add = |sum: &mut u64| {
            *sum = black_box(sum.wrapping_add(size));
            Ok(())
        };
        probe.steady("add", &mut 0, add, |_, _| Ok(()))
    }
}
"#,
    table: "crates/workloads/src/lib.rs",
    group: Some("controls"),
    row: "toy",
    uses: &[
        (&["list"], "toy-work"),
        (&["list", "workloads"], "toy-work"),
        (&["list", "workloads", "--json"], "toy-work"),
        (&["completions", "bash"], "toy-work"),
        (&["run", "toy-work", "--help"], "--toy-size"),
        (&["run", "toy-work", "--quick", "--rounds", "1", "--toy-size", "3"], "toy-work"),
        (&["show", "last"], "toy-work"),
    ],
};

const FINDING: Toy = Toy {
    what: "finding kind",
    file: "crates/findings/src/kinds/toy.rs",
    text: r#"//! A toy: how many points a series has.

use super::prelude::*;

/// The data of one finding.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Toy {
    /// The toy-points of a figure.
    pub points: usize,
}

impl FindingKind for Toy {
    fn find(context: &Context<'_>) -> Vec<Finding> {
        Finding::of_rows(context.rows(), |_, row| {
            [Self { points: row.cells.iter().flatten().count() }]
        })
    }

    fn rank(&self) -> f64 {
        1.0
    }

    fn joins(&self, second: &Self) -> bool {
        self.points == second.points
    }

    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let verb = if names.subjects.len() == 1 { "has" } else { "have" };
        names.claim(format!(" {verb} {} toy-points", all[0].points))
    }
}
"#,
    table: "crates/findings/src/kinds.rs",
    group: None,
    row: "toy::Toy",
    uses: &[
        (&["show", "last"], "toy-points"),
        (&["show", "last", "--all"], "toy-points"),
        (&["show", "last", "--json"], "toy-points"),
        (&["export", "last", "--format", "markdown"], "toy-points"),
        (&["list", "schemas", "--json"], "toy-points"),
    ],
};

const FORMAT: Toy = Toy {
    what: "export format",
    file: "crates/report/src/export/toy.rs",
    text: r#"//! A toy: the run's id.

use super::material::{Content, Format, Material};
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "toy-format",
    about: "a toy",
    mark: "toy-run",
    choices: &[],
    check: |_| Ok(()),
    content: Content::Figures,
    write,
};

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "toy-run {}", material.run.summary.id)
}
"#,
    table: "crates/report/src/export.rs",
    group: None,
    row: "toy",
    uses: &[
        (&["help", "export"], "toy-format"),
        (&["completions", "bash"], "toy-format"),
        (&["export", "last", "--format", "toy-format"], "toy-run"),
    ],
};

const IMPORT: Toy = Toy {
    what: "import format",
    file: "crates/foreign-tables/src/exports/toy.rs",
    text: r#"//! A toy: a table of names and times.

use super::{Export, ExportRow, Measurements};

pub const EXPORT: Export = Export {
    program: "toy-program",
    option: "its output",
    is_head: |head| head.starts_with(b"name,n,us"),
    is_table: |_| false,
    read,
};

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let text = str::from_utf8(bytes).map_err(|_| "is no UTF-8")?;
    let mut rows = Vec::new();
    for line in text.lines().skip(1) {
        let mut fields = line.split(',');
        let mut row = ExportRow::named(&fields.by_ref().take(2).collect::<Vec<_>>().join("/"));
        row.add("time", fields.next().and_then(|time| time.parse().ok()), "us");
        rows.push(row);
    }
    Ok(Measurements { rows, ..Measurements::default() })
}
"#,
    table: "crates/foreign-tables/src/exports.rs",
    group: None,
    row: "toy",
    uses: &[(&["help", "analyse"], "toy-program")],
};
