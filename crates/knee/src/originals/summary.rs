//! lmbench's summary: tables with a machine in each row, in the titles, columns and widths of its `getsummary`.
//!
//! A figure that there is not is blank, as there; so are the columns of RPC, which knee does not measure. The clock rate is
//! one over the time of an addition, as in lmbench's `mhz`; of a run without it, what the kernel reports.

use analysis::Analysis;
use model::{HOST_NAME, Run};
use std::fmt::Write;

const WORKLOAD: &str = "baseline";

struct Section {
    /// All that stands above the rows.
    head: &'static str,
    /// What stands between the system and the first figure.
    gap: &'static str,
    /// The processor's clock in its own column, so wide; 0 where there is none.
    mhz: usize,
    columns: &'static [Column],
}

struct Column {
    /// The subject; empty where knee measures none.
    subject: &'static str,
    width: usize,
    /// The digits that are kept.
    digits: usize,
    /// How many of the record's units make one of lmbench's.
    per: f64,
}

const fn us(subject: &'static str, width: usize) -> Column {
    Column { subject, width, digits: width, per: 1e3 }
}

const fn mb(subject: &'static str, width: usize) -> Column {
    Column { subject, width, digits: width, per: 1e6 }
}

const fn ns(subject: &'static str, width: usize, digits: usize) -> Column {
    Column { subject, width, digits, per: 1.0 }
}

const CYCLE: Column = us("add", 4);

const SECTIONS: &[Section] = &[
    Section {
        head: "\
Processor, Processes - times in microseconds - smaller is better
------------------------------------------------------------------------------
Host                 OS  Mhz null null      open slct sig  sig  fork exec sh
                             call  I/O stat clos TCP  inst hndl proc proc proc
--------- ------------- ---- ---- ---- ---- ---- ---- ---- ---- ---- ---- ----",
        gap: " ",
        mhz: 4,
        columns: &[
            us("null-call", 4),
            us("null-io", 4),
            us("stat", 4),
            us("open-close", 4),
            us("select-tcp-100", 4),
            us("signal-install", 4),
            us("signal-catch", 4),
            us("fork-exit", 4),
            us("fork-exec", 4),
            us("fork-sh", 4),
        ],
    },
    Section {
        head: "\
Context switching - times in microseconds - smaller is better
-------------------------------------------------------------------------
Host                 OS  2p/0K 2p/16K 2p/64K 8p/16K 8p/64K 16p/16K 16p/64K
                         ctxsw  ctxsw  ctxsw ctxsw  ctxsw   ctxsw   ctxsw
--------- ------------- ------ ------ ------ ------ ------ ------- -------",
        gap: " ",
        mhz: 0,
        columns: &[
            us("switch-2p-0k", 6),
            us("switch-2p-16k", 6),
            us("switch-2p-64k", 6),
            us("switch-8p-16k", 6),
            us("switch-8p-64k", 6),
            us("switch-16p-16k", 7),
            us("switch-16p-64k", 7),
        ],
    },
    Section {
        head: "\
*Local* Communication latencies in microseconds - smaller is better
---------------------------------------------------------------------
Host                 OS 2p/0K  Pipe AF     UDP  RPC/   TCP  RPC/ TCP
                        ctxsw       UNIX         UDP         TCP conn
--------- ------------- ----- ----- ---- ----- ----- ----- ----- ----",
        gap: " ",
        mhz: 0,
        columns: &[
            us("switch-2p-0k", 5),
            us("pipe", 5),
            us("unix", 4),
            us("udp", 5),
            us("", 5),
            us("tcp", 5),
            us("", 5),
            us("tcp-connect", 4),
        ],
    },
    Section {
        head: "\
File & VM system latencies in microseconds - smaller is better
-------------------------------------------------------------------------------
Host                 OS   0K File      10K File     Mmap    Prot   Page   100fd
                        Create Delete Create Delete Latency Fault  Fault  selct
--------- ------------- ------ ------ ------ ------ ------- ----- ------- -----",
        gap: " ",
        mhz: 0,
        columns: &[
            us("create-0k", 6),
            us("delete-0k", 6),
            us("create-10k", 6),
            us("delete-10k", 6),
            us("mmap", 7),
            us("protection-fault", 5),
            us("page-fault", 7),
            us("select-100", 5),
        ],
    },
    Section {
        head: "\
*Local* Communication bandwidths in MB/s - bigger is better
-----------------------------------------------------------------------------
Host                OS  Pipe AF    TCP  File   Mmap  Bcopy  Bcopy  Mem   Mem
                             UNIX      reread reread (libc) (hand) read write
--------- ------------- ---- ---- ---- ------ ------ ------ ------ ---- -----",
        gap: " ",
        mhz: 0,
        columns: &[
            mb("bw-pipe", 4),
            mb("bw-unix", 4),
            mb("bw-tcp", 4),
            mb("bw-file-reread", 6),
            mb("bw-mmap-reread", 6),
            mb("copy-libc", 6),
            mb("copy-hand", 6),
            mb("memory-read", 4),
            mb("memory-write", 5),
        ],
    },
    Section {
        head: "\
Memory latencies in nanoseconds - smaller is better
    (WARNING - may not be correct, check graphs)
------------------------------------------------------------------------------
Host                 OS   Mhz   L1 $   L2 $    Main mem    Rand mem    Guesses
--------- -------------   ---   ----   ----    --------    --------    -------",
        gap: "  ",
        mhz: 4,
        columns: &[
            ns("latency-l1", 6, 6),
            ns("latency-l2", 6, 6),
            ns("latency-main", 11, 8),
            ns("latency-random", 11, 8),
        ],
    },
];

/// The summary of `runs`, a row each. Nothing where none has a figure.
pub fn summary(runs: &[(&Run, &Analysis)]) -> Option<String> {
    let mut out = String::from(
        "\n                 L M B E N C H  3 . 0   S U M M A R Y\n                 ------------------------------------\n",
    );
    let mut any = false;
    for section in SECTIONS {
        let rows: Vec<String> = runs.iter().filter_map(|run| row(section, *run)).collect();
        if rows.is_empty() {
            continue;
        }
        any = true;
        let _ = writeln!(out, "\n{}", section.head);
        for row in rows {
            let _ = writeln!(out, "{}", row.trim_end());
        }
    }
    any.then_some(out)
}

/// A machine in one table; none where it has none of its figures.
fn row(section: &Section, (run, analysis): (&Run, &Analysis)) -> Option<String> {
    let figures: Vec<Option<f64>> =
        section.columns.iter().map(|column| figure(column, analysis)).collect();
    if figures.iter().all(Option::is_none) {
        return None;
    }
    let host = &run.host_before;
    let name = host.fact(HOST_NAME).unwrap_or("-");
    let system = host.fact("kernel.name").unwrap_or("Linux");
    let os = format!("{system} {}", host.fact("kernel.release").unwrap_or_default());
    let mut text = format!("{name:<9.9} {os:>13.13}{}", section.gap);
    if section.mhz > 0 {
        let reported = || host.number("cpu.mhz");
        let mhz = figure(&CYCLE, analysis).map(|us| 1.0 / us).or_else(reported);
        let mhz = mhz.map(|mhz| format!("{mhz:.0}")).unwrap_or_default();
        let _ = write!(text, "{mhz:>width$} ", width = section.mhz);
    }
    let cells = section.columns.iter().zip(figures).map(|(column, figure)| {
        let number = figure.map(|figure| number(figure, column.digits)).unwrap_or_default();
        format!("{number:>width$.width$}", width = column.width)
    });
    text.push_str(&cells.collect::<Vec<_>>().join(" "));
    Some(text)
}

fn figure(column: &Column, analysis: &Analysis) -> Option<f64> {
    let mut tables =
        analysis.tables.iter().filter(|table| table.headline && table.workload == WORKLOAD);
    let row = tables.find_map(|table| table.row(column.subject))?;
    let cell = row.cells.iter().flatten().next()?;
    Some(cell.median.value / column.per)
}

/// A number in `digits` characters: thousands and millions by a letter, what is too long cut off.
fn number(value: f64, digits: usize) -> String {
    let cut = |text: String, length: usize| format!("{text:>length$.length$}");
    match value {
        _ if value <= 0.0 => String::new(),
        _ if value >= 1e7 => format!("{}M", cut(format!("{:.1}", value / 1e6), digits - 1)),
        _ if value >= 1e4 => format!("{}K", cut(format!("{:.1}", value / 1e3), digits - 1)),
        _ if value >= 10.0 => cut(format!("{value:.1}"), digits),
        _ => format!("{value:.0$}", digits - 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn subjects() -> BTreeSet<&'static str> {
        let columns = SECTIONS.iter().flat_map(|section| section.columns);
        columns.map(|column| column.subject).filter(|subject| !subject.is_empty()).collect()
    }

    #[test]
    fn every_column_is_a_subject_and_every_subject_a_column() {
        let measured = workloads::find(WORKLOAD).unwrap().subjects();
        let measured: BTreeSet<&str> =
            measured.iter().map(|subject| subject.info.name.as_str()).collect();
        let columns = subjects();
        assert_eq!(columns.difference(&measured).collect::<Vec<_>>(), Vec::<&&str>::new());
        // lmbench has no columns for these.
        let further: Vec<&str> = measured.difference(&columns).copied().collect();
        assert_eq!(further, [CYCLE.subject, "eventfd", "futex"]);
    }

    /// As its `num` has them.
    #[test]
    fn numbers_have_lmbenchs_digits() {
        for (value, digits, text) in [
            (0.0765, 4, "0.08"),
            (0.0765, 6, "0.0765"),
            (3.8, 4, "3.80"),
            (14.04, 4, "14.0"),
            (522.4, 4, "522."),
            (2810.0, 4, "2810"),
            (14_000.0, 4, "14.K"),
            (117_000.0, 5, "117.K"),
            (12_345_678.0, 6, "12.3M"),
            (-1.0, 4, ""),
        ] {
            assert_eq!(number(value, digits).trim(), text, "{value}");
        }
    }

    #[test]
    fn figures_stand_below_their_columns() {
        for section in SECTIONS {
            let rule = section.head.lines().last().unwrap();
            let mut end = "--------- -------------".len() + section.gap.len();
            if section.mhz > 0 {
                end += section.mhz + 1;
            }
            for column in section.columns {
                end += column.width;
                // The last table's figures stand around their rules, as in the original.
                if column.per > 1.0 {
                    assert_eq!(rule.get(end - 1..end), Some("-"), "{}: {end}", section.head);
                    assert!(matches!(rule.get(end..=end), Some(" ") | None), "{}", section.head);
                }
                end += 1;
            }
        }
    }

    /// The columns that the summary of 1999 has in Kegel's notes on /dev/poll are still there, in its order.
    #[test]
    fn the_tables_of_the_seed_are_there() {
        let published = [
            (
                "Processor, Processes - times in microseconds - smaller is better",
                "null null open sig sig fork exec sh",
            ),
            (
                "Context switching - times in microseconds - smaller is better",
                "2p/0K 2p/16K 2p/64K 8p/16K 8p/64K 16p/16K 16p/64K",
            ),
            (
                "*Local* Communication latencies in microseconds - smaller is better",
                "2p/0K Pipe AF UDP RPC/ TCP RPC/ TCP",
            ),
            (
                "File & VM system latencies in microseconds - smaller is better",
                "0K File 10K File Mmap Prot Page",
            ),
            (
                "*Local* Communication bandwidths in MB/s - bigger is better",
                "Pipe AF TCP File Mmap Bcopy Bcopy Mem Mem",
            ),
            ("Memory latencies in nanoseconds - smaller is better", "Mhz L1 $ L2 $ Main mem"),
        ];
        assert_eq!(SECTIONS.len(), published.len());
        for (section, (title, columns)) in SECTIONS.iter().zip(published) {
            assert_eq!(section.head.lines().next(), Some(title));
            let heads = section.head.lines().find(|line| line.starts_with("Host")).unwrap();
            let mut words = heads.split_whitespace();
            for column in columns.split(' ') {
                assert!(words.any(|word| word == column), "{title}: {column}");
            }
        }
    }

    const FIGURES: [(&str, f64); 43] = [
        ("null-call", 76.5),
        ("null-io", 97.3),
        ("stat", 316.0),
        ("open-close", 542.0),
        ("select-tcp-100", 3_800.0),
        ("signal-install", 140.0),
        ("signal-catch", 744.9),
        ("fork-exit", 14e6),
        ("fork-exec", 2.81e6),
        ("fork-sh", 693_500.0),
        ("switch-2p-0k", 716.0),
        ("switch-2p-16k", 746.0),
        ("switch-2p-64k", 855.0),
        ("switch-8p-16k", 12_760.0),
        ("switch-8p-64k", 1_840.0),
        ("switch-16p-16k", 1_650.0),
        ("switch-16p-64k", 123_910.0),
        ("pipe", 1_960.0),
        ("unix", 3_740.0),
        ("udp", 3_850.0),
        ("tcp", 4_670.0),
        ("tcp-connect", 8_290.0),
        ("create-0k", 22_300.0),
        ("delete-0k", 1_840.0),
        ("create-10k", 36_700.0),
        ("delete-10k", 3_290.0),
        ("mmap", 80_600.0),
        ("protection-fault", 358.0),
        ("page-fault", 88.5),
        ("select-100", 522.0),
        ("bw-pipe", 2.9e9),
        ("bw-unix", 5.12e9),
        ("bw-tcp", 3.37e9),
        ("bw-file-reread", 8.89e9),
        ("bw-mmap-reread", 12.1e9),
        ("copy-libc", 9.75e9),
        ("copy-hand", 5e9),
        ("memory-read", 14e9),
        ("memory-write", 9.7e9),
        ("latency-l1", 1.4),
        ("latency-l2", 5.03),
        ("latency-main", 25.6),
        ("latency-random", 123.4),
    ];

    /// What lmbench 3.0-a9's own `getsummary` prints of the same figures; spaces that end a line are left out.
    #[test]
    fn the_tables_are_those_of_getsummary() {
        let mut workload =
            fixtures::workload(WORKLOAD).axis("copies", "copies").time("latency").separate();
        workload = workload.rate("bandwidth", "bandwidth", "B/s");
        let is_rate = |subject: &str| {
            let columns = SECTIONS.iter().flat_map(|section| section.columns);
            columns.into_iter().any(|column| column.subject == subject && column.per > 1e5)
        };
        let mut cells = Vec::new();
        for (subject, value) in FIGURES {
            let metric = if is_rate(subject) { "bandwidth" } else { "latency" };
            workload = workload.grouped(subject, "", if is_rate(subject) { metric } else { "" });
            let samples = vec![value, value];
            cells.extend((0..3).map(|round| {
                fixtures::cell(WORKLOAD, subject, 1, round).samples(metric, samples.clone())
            }));
        }
        let facts = [("host.name", "amber-long-name"), ("kernel.release", "6.18.44-fc-v769")];
        let mut host = fixtures::host("", facts);
        host.facts.insert("cpu.mhz".to_owned(), 2800.0.into());
        let run = fixtures::run(workload).host_before(host).cells(cells).complete();
        let analysis = analysis::analyse(&run);
        let text = summary(&[(&run, &analysis)]).unwrap();
        let tables = text.split_once("------------------------------------\n").unwrap().1;
        assert_eq!(tables, include_str!("summary.txt"), "{tables}");
        let both = summary(&[(&run, &analysis), (&run, &analysis)]).unwrap();
        assert_eq!(both.matches("amber-lon Linux 6.18.44").count(), 12, "{both}");
        assert_eq!(summary(&[]), None);
    }

    #[test]
    fn the_clock_rate_is_that_of_an_addition_where_it_was_measured() {
        let workload = fixtures::workload(WORKLOAD)
            .axis("copies", "copies")
            .time("latency")
            .separate()
            .subjects(["add", "null-call"]);
        let cells = ["add", "null-call"].into_iter().flat_map(|subject| {
            let cell = move |round| fixtures::cell(WORKLOAD, subject, 1, round);
            (0..3).map(move |round| cell(round).samples("latency", vec![0.4, 0.4]))
        });
        let run = fixtures::run(workload).cells(cells).complete();
        let text = summary(&[(&run, &analysis::analyse(&run))]).unwrap();
        assert!(text.lines().any(|line| line.contains(" 2500 ")), "{text}");
    }
}
