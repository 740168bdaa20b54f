//! Tables that others published, typed in: what `knee analyse` is held to.
#![expect(clippy::unreadable_literal, reason = "the figures stand as their authors wrote them")]

use std::fmt::Write;
use std::fs::write;
use std::path::Path;

/// The names of the files that [`write_into`] writes, as docs/published.md names them.
pub const PIPETEST: &str = "mattheij-pipetest.csv";
pub const POLLER_BENCH: &str = "kegel-poller-bench.csv";
pub const KERNBENCH: &str = "fitzhardinge-kernbench.csv";

/// Writes all tables into a directory.
pub fn write_into(directory: &Path) {
    write(directory.join(PIPETEST), pipetest()).unwrap();
    write(directory.join(POLLER_BENCH), poller_bench()).unwrap();
    write(directory.join(KERNBENCH), KERNBENCH_TABLE).unwrap();
}

/// Jacques Mattheij, "Poll vs Epoll, once again" (2010), first table: 10,000 pipes. Threads, then
/// tokens per second by poll and by epoll: on a laptop for 5,000 generations, on a server for 5,000,
/// and on the server for 1,000.
const BY_THREADS: [(u64, [[f64; 2]; 3]); 10] = [
    (1000, [[52794.72, 113635.83], [84178.84, 236435.19], [84162.04, 231716.63]]),
    (2000, [[80807.31, 115024.91], [127368.02, 187668.68], [109851.82, 188437.40]]),
    (3000, [[95930.27, 114717.18], [154023.00, 185205.31], [159714.92, 184739.19]]),
    (4000, [[109707.55, 115473.41], [163494.94, 188995.27], [166714.32, 187494.50]]),
    (5000, [[117928.17, 113419.36], [193359.85, 184003.86], [186738.63, 185297.41]]),
    (6000, [[120943.38, 113902.14], [207693.91, 184282.37], [202951.42, 185804.94]]),
    (7000, [[126391.55, 113746.99], [218761.49, 181032.53], [198644.44, 186326.04]]),
    (8000, [[128464.63, 113497.32], [215132.22, 181263.91], [215884.37, 175914.84]]),
    (9000, [[133985.83, 110956.98], [231116.02, 189192.59], [218715.00, 188358.29]]),
    (10_000, [[140910.47, 111840.06], [237152.70, 181067.26], [219449.18, 186205.08]]),
];
/// His second table: the server, 1,000 generations. Threads in per cent of the pipes, then tokens
/// per second by poll and by epoll: with 1,000 pipes, and with 20,000.
const BY_SHARE: [(u64, [[f64; 2]; 2]); 10] = [
    (10, [[155888.53, 480854.76], [78448.75, 191127.99]]),
    (20, [[230266.45, 437160.38], [120056.84, 182416.58]]),
    (30, [[252568.83, 409625.09], [155138.36, 179768.17]]),
    (40, [[264276.37, 379503.76], [176217.87, 175751.94]]),
    (50, [[277974.36, 330917.8], [182674.37, 177957.49]]),
    (60, [[268144.08, 289724.48], [194176.30, 177750.36]]),
    (70, [[265375.87, 278233.32], [207907.90, 180438.06]]),
    (80, [[247331.14, 250956.30], [210931.99, 175575.64]]),
    (90, [[282519.12, 229451.59], [212061.12, 171391.23]]),
    (100, [[275873.78, 230116.33], [213802.77, 178249.96]]),
];

/// Mattheij's tables as one.
fn pipetest() -> String {
    let mut text = String::from("machine,generations,pipes,threads,mechanism,tokens_per_s\n");
    let mut row = |settings: &str, threads: u64, [poll, epoll]: [f64; 2]| {
        writeln!(text, "{settings},{threads},poll,{poll}\n{settings},{threads},epoll,{epoll}")
            .unwrap();
    };
    for (threads, figures) in BY_THREADS {
        let all_settings = ["laptop,5000,10000", "server,5000,10000", "server,1000,10000"];
        for (settings, figures) in all_settings.into_iter().zip(figures) {
            row(settings, threads, figures);
        }
    }
    for (percent, figures) in BY_SHARE {
        for (pipes, figures) in [1000, 20_000].into_iter().zip(figures) {
            row(&format!("server,1000,{pipes}"), pipes * percent / 100, figures);
        }
    }
    text
}

/// Machine, kernel, mechanism, microseconds by pipes.
type Series = (&'static str, &'static str, &'static str, &'static [(u64, u64)]);

/// Dan Kegel, `Poller_bench` (2000): microseconds per wait and dispatch with one active pipe of 100,
/// 1,000, 10,000 and (FreeBSD) 30,000. One figure per point.
const BY_PIPES: [Series; 14] = [
    (ULTRA, "SunOS 5.7", "select", &[(100, 151)]),
    (ULTRA, "SunOS 5.7", "poll", &[(100, 470), (1000, 676), (10_000, 3742)]),
    (ULTRA, "SunOS 5.7", "/dev/poll", &[(100, 61), (1000, 70), (10_000, 92)]),
    (ENTERPRISE, "Solaris 8", "select", &[(100, 60)]),
    (ENTERPRISE, "Solaris 8", "poll", &[(100, 273), (1000, 388), (10_000, 1559)]),
    (ENTERPRISE, "Solaris 8", "/dev/poll", &[(100, 27), (1000, 28), (10_000, 34)]),
    (DUAL, "Linux 2.2.14", "select", &[(100, 28)]),
    (DUAL, "Linux 2.2.14", "poll", &[(100, 23), (1000, 890), (10_000, 11_333)]),
    (DUAL, "Linux 2.2.14", "/dev/poll", &[(100, 19), (1000, 146), (10_000, 4264)]),
    (DUAL, "Linux 2.4.0-test10", "select", &[(100, 52)]),
    (DUAL, "Linux 2.4.0-test10", "poll", &[(100, 49), (1000, 1184), (10_000, 14_660)]),
    (SINGLE, "FreeBSD 4.x", "select", &[(100, 54)]),
    (SINGLE, "FreeBSD 4.x", "poll", &[(100, 50), (1000, 552), (10_000, 11_559), (30_000, 35_178)]),
    (SINGLE, "FreeBSD 4.x", "kqueue", &[(100, 8), (1000, 8), (10_000, 8), (30_000, 8)]),
];
const ULTRA: &str = "167MHz Ultra-1";
const ENTERPRISE: &str = "4x400MHz Enterprise 450";
const DUAL: &str = "650MHz dual Pentium III";
const SINGLE: &str = "600MHz Pentium III";

/// Kegel's tables as one.
fn poller_bench() -> String {
    let mut text = String::from("machine,kernel,mechanism,pipes,us_per_wait_and_dispatch\n");
    for (machine, kernel, mechanism, figures) in BY_PIPES {
        for (pipes, us) in figures {
            writeln!(text, "{machine},{kernel},{mechanism},{pipes},{us}").unwrap();
        }
    }
    text
}

/// Jeremy Fitzhardinge, "Some initial measurements comparing spinlock algorithms" (xen-devel, July 2008):
/// kernbench -M, means and standard deviations of five runs.
const KERNBENCH_TABLE: &str = "\
lock,load,elapsed_s,elapsed_sd,user_s,user_sd,system_s,system_sd,percent_cpu,percent_cpu_sd,\
context_switches,context_switches_sd,sleeps,sleeps_sd
ticket,half (-j 3),503.002,19.3737,563.494,0.562699,146.404,6.94372,141,4.63681,54069.4,458.201,49098.4,\
367.281
ticket,optimal (-j 16),aborted after about 6 hours,,,,,,,,,,,
byte,half (-j 3),410.686,2.49314,564.596,0.710408,130.2,0.519856,168.6,1.34164,53195.8,599.579,49026,568.152
byte,optimal (-j 16),326.226,0.158367,552.268,13.0477,117.686,13.2014,182.9,15.103,68198.8,15849.9,\
51708.1,2857.7
xen-pv,half (-j 3),338.98,0.932121,567.326,0.416569,132.802,1.56383,206,0,50225,499.58,48687.6,542.278
xen-pv,optimal (-j 16),323.176,0.251555,555.099,12.898,117.882,15.7619,202.7,3.49761,67133.4,17837.1,\
51669.8,3210.78
";
