//! Tables that others published, read again: what their authors say of them, and what knee says.
//!
//! One file of `published` is one table, with its source on the first line. docs/published.md counts the claims.

use crate::common::{Knee, came};
use Verdict::{Agrees, Contradicts, Open};
use std::fs::{File, write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Where the tables are.
const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exchange/published");

const PAGE: &str = include_str!("../../../../docs/published.md");

/// What knee makes of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Agrees,
    Contradicts,
    /// The figures do not decide it, or it lies beyond them.
    Open,
}

/// What knee makes of a claim, what the authors say, and knee's words, of which `…` leaves some out.
type Claim = (Verdict, &'static str, &'static str);

/// A table, the rest of the command, and the claims.
const PUBLISHED: [(&str, &str, &[Claim]); 11] = [
    (
        "kegel-poller-bench",
        "--x pipes --y us_per_wait_and_dispatch --by mechanism --per kernel",
        &[
            (
                Agrees,
                "poll and /dev/poll grew by 493 and 224 on Linux 2.2.14",
                "poll and /dev/poll (kernel = Linux 2.2.14-smp + /dev/poll patch) are at least linear: ×224 to ×493",
            ),
            (
                Agrees,
                "poll grew by 300 on Linux 2.4.0-test10",
                "poll (kernel = Linux 2.4.0-test10-pre4 smp) is at least linear: ×299",
            ),
            (Contradicts, "poll grew by 6.5 on Solaris 7", "poll ×7.96 (95 % CI 5.07–12.5)"),
            (Agrees, "/dev/poll grew by 1.5 on Solaris 7", "/dev/poll ×1.51 (95 % CI 1.02–2.22)"),
            (
                Agrees,
                "/dev/poll is about 7 to 40 times faster than poll on Solaris",
                "/dev/poll is better throughout, ×7.70 to ×40.7",
            ),
            (
                Agrees,
                "/dev/poll is up to 6 times faster than poll on Linux",
                "/dev/poll is better throughout, ×1.21 to ×6.10",
            ),
            (
                Agrees,
                "kqueue performs best and scales best",
                "kqueue (kernel = FreeBSD 4.x-STABLE) is flat at 8.00 µs … kqueue is better throughout",
            ),
        ],
    ),
    (
        "mattheij-pipetest",
        "--x threads --y tokens_per_s --by mechanism --of pipes --per machine,generations,pipes",
        &[
            (
                Agrees,
                "poll overtakes epoll somewhere around 5,000 threads of 10,000 pipes",
                "at 4,930 threads (49 % of pipes). Between 4,000 and 6,000 … at 4,540 threads (45 % of pipes). Between \
                 4,000 and 5,000 … at 4,720 threads (47 % of pipes). Between 4,000 and 5,000",
            ),
            (
                Contradicts,
                "past a certain percentage of the pipes poll is the fastest",
                "overtakes epoll at 806 threads (81 % of pipes) … overtakes epoll at 7,960 threads (40 % of pipes)",
            ),
            (
                Agrees,
                "poll passes more tokens with more threads",
                "machine = laptop, pipes = 10000) rises ×2.67 … machine = server, pipes = 10000) rises ×2.82",
            ),
            (
                Contradicts,
                "epoll is relatively flat across the board",
                "machine = laptop, pipes = 10000) holds between 111 and 115 … epoll (generations = 5000, machine = \
                 server, pipes = 10000) falls ÷1.31",
            ),
        ],
    ),
    (
        "fitzhardinge-kernbench",
        "--x load --y elapsed_s --by lock --sd elapsed_sd --n 5",
        &[
            (
                Agrees,
                "the byte lock took 18 % less than the ticket lock at half load",
                "byte is 18.4 % below ticket at half (-j 3) (95 % CI 14.3–22.2 %).",
            ),
            (
                Agrees,
                "the lock that spins, then blocks, took 33 % less",
                "xen-pv is 32.6 % below ticket at half (-j 3) (95 % CI 29.3–35.8 %).",
            ),
            (
                Agrees,
                "with the ticket lock the optimal load never finished",
                "ticket did not finish at optimal (-j 16): aborted after about 6 hours.",
            ),
        ],
    ),
    (
        "kerrisk-epoll",
        "--x descriptors --y cpu_s --by mechanism",
        &[
            (
                Agrees,
                "epoll is better than poll and select",
                "poll and select are at least linear: ×849 to ×1,563 … epoll is better throughout, ×1.72 to ×1,804",
            ),
            (
                Open,
                "epoll times remain near constant",
                "epoll is undecided: ×1.49 from 10 to 10,000 descriptors … exponent 0.06, 95 % CI 0.01–0.12",
            ),
        ],
    ),
    (
        "gunther-sdm91",
        "--x users --y scripts_per_hour",
        &[
            (Agrees, "the peak lies at 96.5 users", "peak at 93 users"),
            (
                Contradicts,
                "contention 0.0277, crosstalk 0.000104",
                "contention 0.0135, crosstalk 0.000115",
            ),
        ],
    ),
    (
        "schwartz-cisco",
        "--x concurrency --y queries_per_s --all",
        &[
            (
                Contradicts,
                "contention 0.0267, crosstalk 0.00077",
                "contention 0.0205, crosstalk 0.000891",
            ),
            (Open, "the peak lies at 35, beyond the figures", "no peak in reach"),
        ],
    ),
    (
        "franke-futex",
        "--x processes --y acquisitions_per_s --by lock --per arrivals",
        &[
            (
                Agrees,
                "user locks are about 4 times as fast as the kernel's",
                "usema is better throughout, ×1.13 to ×3.67",
            ),
            (
                Agrees,
                "convoy avoidance is 10 % ahead of futexes with two processes, but not with three",
                "convoy (arrivals = back to back) overtakes mutex at 1.2 processes; mutex overtakes convoy at 2.1",
            ),
            (
                Agrees,
                "with 100 processes futexes rock",
                "sysv and mutex (arrivals = back to back): no crossover in range; mutex is better throughout, \
                 ×2.91 to ×101",
            ),
            (
                Agrees,
                "fair locks don't do that well",
                "sysv and usema (arrivals = back to back) collapse ÷30.3 to ÷37.5 … sysv and usema (arrivals = \
                 after 10 us) collapse ÷3.80 to ÷10.1",
            ),
            (
                Agrees,
                "at realistic arrivals convoy avoidance does roughly what futexes do",
                "convoy is better at 3 processes, ×1.14, and too close to call beyond",
            ),
        ],
    ),
    (
        "kogan-cna",
        "--x threads --y throughput --by kernel --per benchmark --sd sd --n 25 --all",
        &[
            (
                Agrees,
                "speedups in locktorture: up to 1.65",
                "locktorture): no crossover in range; CNA is better from 8 threads on, ×1.19 to ×1.65, and too close \
                 to call below",
            ),
            (
                Agrees,
                "in open1 below 1 up to 16 threads, 1.7 and more from 32 on",
                "open1): no crossover in range; CNA is better from 32 threads on, ×1.70 to ×2.07",
            ),
            (
                Open,
                "in lock2 0.96 with 16 threads, 1.6 and more from 32 on",
                "lock2): no crossover in range; CNA is better from 32 threads on, ×1.58 to ×2.08, and too close to \
                 call below",
            ),
            (
                Agrees,
                "in readrandom 1.00 with 4 and 8 threads, up to 1.91",
                "readrandom): no crossover in range; CNA is better from 32 threads on, ×1.30 to ×1.91, and too close \
                 to call below",
            ),
        ],
    ),
    (
        "mau-lmbench",
        "--x what --y us --by kernel --round run",
        &[
            (
                Agrees,
                "many latencies are worse in the newer kernel",
                "2.5.40 is 33.7 % above Linux 2.4.18 at 2p/0K … 7.7 % above Linux 2.4.18 at pipe … 9.9 % above \
                 Linux 2.4.18 at AF UNIX",
            ),
            (
                Agrees,
                "context switches vary with the layout of the caches: an average is an average",
                "can't be distinguished from Linux 2.4.18 at 8p/16K … can't be distinguished from Linux 2.4.18 at 16p/16K",
            ),
        ],
    ),
    (
        "mau-lmbench-bandwidth",
        "--x what --y MB_per_s --by kernel --round run",
        &[(
            Agrees,
            "many bandwidths are worse too",
            "below Linux 2.4.18 at pipe (95 % CI … below Linux 2.4.18 at AF UNIX (95 % CI … above Linux 2.4.18 at \
             memory write (95 % CI",
        )],
    ),
    (
        "tigerbeetle",
        "history --margin 1%",
        &[
            (
                Agrees,
                "changes at 15 and 71, and with smaller ones at 61, 95, 117, 131, 142, 148, 192 and 212",
                "run 16 ×0.886, run 62 ×1.04, run 72 ×1.16, run 96 ×0.959, run 118 ×1.02, run 132 ×1.02, run 143 \
                 ×1.03, run 149 ×0.973, run 193 ×1.02 and run 213 ×1.02",
            ),
            (Open, "a change at 260, by less than 1 %", "is faster since run 213 (2024-06-13)"),
        ],
    ),
];

/// What knee prints, on one line.
fn output(table: &str, rest: &str) -> String {
    let knee = Knee::new();
    let script = match rest.strip_prefix("history") {
        Some(flags) => {
            one_file_each(table, knee.directory.path());
            let name = format!("--name {table} --record t.db");
            format!(
                "\"$KNEE\" import -q --x system --y transactions_per_s {name} *.csv && \
                 \"$KNEE\" history {table} --record t.db --last 1000 {flags}"
            )
        }
        None => format!("cd {TABLES} && \"$KNEE\" analyse {table}.csv {rest}"),
    };
    let came = came(knee.shell(&script).current_dir(knee.directory.path()));
    assert_eq!((came.code, came.err.as_str()), (Some(0), ""), "{table}");
    came.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The commits of a table as files, measured a day after each other. Of equal contents, one would be a run.
fn one_file_each(table: &str, directory: &Path) {
    let content = std::fs::read_to_string(format!("{TABLES}/{table}.csv")).unwrap();
    for (index, line) in content.lines().skip(2).enumerate() {
        let (commit, figure) = line.split_once(',').unwrap();
        let file = directory.join(format!("{index:03}.csv"));
        let content = format!("commit,system,transactions_per_s\n{commit},1,{figure}\n");
        write(&file, content).unwrap();
        let day = Duration::from_secs(1_700_000_000 + 86_400 * index as u64);
        let file = File::options().append(true).open(file).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + day).unwrap();
    }
}

#[test]
fn knee_says_of_published_tables_what_the_page_counts() {
    for (table, rest, claims) in PUBLISHED {
        let out = output(table, rest);
        for (verdict, claim, words) in claims {
            for part in words.split(" … ") {
                assert!(out.contains(part), "{table}: {claim} ({verdict:?}): {part}\n{out}");
            }
        }
        let count = |wanted| claims.iter().filter(|(verdict, ..)| *verdict == wanted).count();
        let counts = format!("| {} | {} | {} |", count(Agrees), count(Contradicts), count(Open));
        let row = PAGE.lines().find(|line| line.contains(&format!("published/{table}.csv)")));
        assert!(row.is_some_and(|row| row.ends_with(&counts)), "{table}: {counts}: {row:?}");
    }
}

/// Student's t for four degrees of freedom, times the deviation, over the root of five.
#[test]
fn a_published_deviation_gives_students_interval() {
    let flags = "--x load --y elapsed_s --by lock --sd elapsed_sd --n 5 --json";
    let script = format!("cd {TABLES} && \"$KNEE\" analyse fitzhardinge-kernbench.csv {flags}");
    let out = came(&mut Knee::new().shell(&script)).out;
    let run: serde_json::Value = serde_json::from_str(&out).unwrap();
    let median = &run["tables"][0]["rows"][0]["cells"][0]["median"];
    let half = 2.776_445 * 19.3737 / 5_f64.sqrt();
    let [low, high] = ["low", "high"].map(|end| median[end].as_f64().unwrap() / 1e9);
    assert!((low - (503.002 - half)).abs() < 1e-6 && (high - (503.002 + half)).abs() < 1e-6);
}
