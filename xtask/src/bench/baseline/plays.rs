//! Which program of lmbench has the figure of which row.

use super::figure::Figure;

/// A command of lmbench, and the rows that it has figures of.
pub(super) struct Play {
    /// In a shell; FILE and MAPPED are a small file and one of 32 MiB.
    pub command: &'static str,
    /// The program that is its server.
    pub server: Option<&'static str>,
    pub rows: &'static [Pairing],
}

/// A row of knee, and where its figure is in lmbench's output.
pub(super) struct Pairing {
    pub name: &'static str,
    pub figure: Figure,
    /// Why the two may lie further apart; empty where nothing is known.
    pub apart_because: &'static str,
}

const fn row(name: &'static str, figure: Figure) -> Pairing {
    Pairing { name, figure, apart_because: "" }
}

const fn row_apart(name: &'static str, figure: Figure, apart_because: &'static str) -> Pairing {
    Pairing { name, figure, apart_because }
}

/// Why a row may lie further apart; empty where nothing is known.
pub(super) fn apart_because(name: &str) -> &'static str {
    let mut rows = PLAYS.iter().flat_map(|play| play.rows);
    rows.find(|row| row.name == name).map_or("", |row| row.apart_because)
}

const fn play(command: &'static str, rows: &'static [Pairing]) -> Play {
    Play { command, server: None, rows }
}

const fn served(server: &'static str, command: &'static str, rows: &'static [Pairing]) -> Play {
    Play { server: Some(server), ..play(command, rows) }
}

/// Whether a row of knee is a bandwidth.
pub(super) fn is_bandwidth(name: &str) -> bool {
    ["bw-", "copy-", "memory-"].iter().any(|start| name.starts_with(start))
}

pub(super) const PLAYS: &[Play] = &[
    play("lat_syscall null", &[row("null-call", Figure::Microseconds)]),
    play("lat_syscall read; lat_syscall write", &[row("null-io", Figure::MeanMicroseconds)]),
    play("lat_syscall stat FILE", &[row("stat", Figure::Microseconds)]),
    play("lat_syscall open FILE", &[row("open-close", Figure::Microseconds)]),
    play("lat_select -n 100 tcp", &[row("select-tcp-100", Figure::Microseconds)]),
    play("lat_sig install", &[row("signal-install", Figure::Microseconds)]),
    play("lat_sig catch", &[row("signal-catch", Figure::Microseconds)]),
    play(
        "lat_proc fork",
        &[row_apart(
            "fork-exit",
            Figure::Microseconds,
            "lmbench's program touches more memory: 30 page faults a fork, ours 25",
        )],
    ),
    play("lat_proc exec", &[row("fork-exec", Figure::Microseconds)]),
    play("lat_proc shell", &[row("fork-sh", Figure::Microseconds)]),
    play("lat_ctx -s 0 2", &[row("switch-2p-0k", Figure::Switch(2))]),
    play("lat_ctx -s 16 2", &[row("switch-2p-16k", Figure::Switch(2))]),
    play("lat_ctx -s 64 2", &[row("switch-2p-64k", Figure::Switch(2))]),
    play("lat_ctx -s 16 8", &[row("switch-8p-16k", Figure::Switch(8))]),
    play("lat_ctx -s 64 8", &[row("switch-8p-64k", Figure::Switch(8))]),
    play("lat_ctx -s 16 16", &[row("switch-16p-16k", Figure::Switch(16))]),
    play("lat_ctx -s 64 16", &[row("switch-16p-64k", Figure::Switch(16))]),
    play("lat_pipe", &[row("pipe", Figure::Microseconds)]),
    play("lat_unix", &[row("unix", Figure::Microseconds)]),
    served("lat_udp", "lat_udp localhost", &[row("udp", Figure::Microseconds)]),
    served("lat_tcp", "lat_tcp localhost", &[row("tcp", Figure::Microseconds)]),
    served(
        "lat_connect",
        "lat_connect localhost",
        &[row_apart(
            "tcp-connect",
            Figure::Microseconds,
            "lmbench's client fills the server's queue, and waits a second for each connection that is dropped",
        )],
    ),
    play(
        "lat_fs .",
        &[
            row("create-0k", Figure::Files("0k", 2)),
            row("delete-0k", Figure::Files("0k", 3)),
            row("create-10k", Figure::Files("10k", 2)),
            row("delete-10k", Figure::Files("10k", 3)),
        ],
    ),
    play("lat_mmap 32m MAPPED", &[row("mmap", Figure::SecondMicroseconds)]),
    play("lat_sig prot \"$BIN/lat_sig\"", &[row("protection-fault", Figure::Microseconds)]),
    play("lat_pagefault MAPPED", &[row("page-fault", Figure::Microseconds)]),
    play("lat_select -n 100 file", &[row("select-100", Figure::Microseconds)]),
    play("bw_pipe", &[row("bw-pipe", Figure::Megabytes)]),
    play("bw_unix", &[row("bw-unix", Figure::Megabytes)]),
    served("bw_tcp", "bw_tcp -m 10M localhost", &[row("bw-tcp", Figure::Megabytes)]),
    play("bw_file_rd 32m io_only MAPPED", &[row("bw-file-reread", Figure::SecondMegabytes)]),
    play("bw_mmap_rd 32m mmap_only MAPPED", &[row("bw-mmap-reread", Figure::SecondMegabytes)]),
    play("bw_mem 32m bcopy", &[row("copy-libc", Figure::SecondMegabytes)]),
    play("bw_mem 32m fcp", &[row("copy-hand", Figure::SecondMegabytes)]),
    play("bw_mem 32m frd", &[row("memory-read", Figure::SecondMegabytes)]),
    play("bw_mem 32m fwr", &[row("memory-write", Figure::SecondMegabytes)]),
    play(
        "lat_mem_rd -N 3 128 128",
        &[
            row("latency-l1", Figure::Load("0.00098")),
            row("latency-l2", Figure::Load("0.12500")),
            row("latency-main", Figure::Load("128.00000")),
        ],
    ),
    play("lat_mem_rd -N 1 -t 128 16", &[row("latency-random", Figure::Load("128.00000"))]),
];
