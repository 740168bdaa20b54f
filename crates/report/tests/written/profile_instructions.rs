//! Where in a function the samples are, as `knee show --profile` prints it.

use fixtures::{cell, metric, run, workload};
use model::{CodeFault, MachineCode, Run};
use report::layout::{Detail, Style};
use report::terminal::{self, Chosen};

/// Two functions of the kernel grow and one of a library; the code of `fdget` alone was read.
fn profiled() -> Run {
    let poll = workload("poll")
        .axis("watched descriptors", "watched")
        .metric("loop", "write + wait", "ns")
        .metric("wait", "wait", "ns")
        .subject("poll", "poll", "");
    let key = |point| fixtures::key("poll", "poll", point, 0);
    let stacks = |walked| {
        [
            ("knee worker;main;do_sys_poll_[k]", 100),
            ("knee worker;main;do_sys_poll_[k];sock_poll_[k]", 4 * walked),
            ("knee worker;main;do_sys_poll_[k];fdget_[k]", 2 * walked),
            ("knee worker;main;memcpy", walked),
        ]
    };
    let machine = MachineCode {
        architecture: "x86_64".into(),
        address: 0xffff_ffff_8120_0000,
        bytes: "f30f1efa488b472085c07400c3".into(),
        lines: vec![(0, "fs/file.c:1161".into()), (8, "fs/file.c:1165".into())],
    };
    let error = "Operation not permitted".to_owned();
    let profile = fixtures::profile()
        .cell(key(100), "loop", (1000, 110_000_000), stacks(2))
        .cell(key(10_000), "loop", (1000, 800_000_000), stacks(100))
        .instructions("sock_poll_[k]", &[(0x1a3, 250), (0x0, 40), (0x1a7, 110)])
        .instructions("fdget_[k]", &[(4, 20), (8, 150), (10, 30)])
        .instructions("memcpy", &[(0x10, 19)])
        .region("wait", 10_000, (1000, 400_000_000), stacks(50))
        .instructions("sock_poll_[k]", &[(0x1a3, 7)])
        .code("sock_poll_[k]", Err(CodeFault::KernelMemoryUnreadable { error }))
        .code("fdget_[k]", Ok(machine))
        .build();
    let cells = [100, 10_000].into_iter().flat_map(|point| {
        (0..5).map(move |round| {
            let ns = point as f64 * 10.0 * (1.0 + f64::from(round) / 500.0);
            cell("poll", "poll", point, round).metric(metric("loop", vec![ns; 5]))
        })
    });
    run(poll).rounds(5).cells(cells).profile(profile).complete()
}

fn printed(chosen: Chosen) -> Result<String, Vec<String>> {
    let run = profiled();
    let style = Style { colour: false, width: 100, detail: Detail::All };
    terminal::hot_instructions(&run, &findings::conclude(&run), &style, chosen)
}

#[test]
fn the_hottest_instructions_of_what_grew_have_bytes_text_and_source_or_a_reason() {
    let text = printed(Chosen::Grown(3)).unwrap();
    assert_eq!(
        text,
        "\
sock_poll, kernel · poll, poll · at 10,000 watched descriptors · 400 samples
   62 %   sock_poll+0x1a3
   28 %   sock_poll+0x1a7
   10 %   sock_poll+0x0

fdget, kernel · poll, poll · at 10,000 watched descriptors · 200 samples
   75 %   +0x8   85 c0         test %eax,%eax        fs/file.c:1165
   15 %   +0xa   74 00         je +0xc               fs/file.c:1165
   10 %   +0x4   48 8b 47 20   mov 0x20(%rdi),%rax   fs/file.c:1161

  No instructions of sock_poll: the kernel's code is in /proc/kcore, which could not be read
    (Operation not permitted); root can on a machine, or in a virtual machine, whose kernel has
    CONFIG_PROC_KCORE.
  A sample stands at the instruction that would have run next, or where the kernel next accepts
    interrupts: look at those before it too.
"
    );
}

#[test]
fn a_named_function_is_shown_in_order_of_address_in_every_metric() {
    let text = printed(Chosen::Named("sock_poll")).unwrap();
    let titles: Vec<&str> = text.lines().filter(|line| line.starts_with("sock_poll, ")).collect();
    assert_eq!(
        titles,
        [
            "sock_poll, kernel · poll, poll · at 10,000 watched descriptors · 400 samples",
            "sock_poll, kernel · poll, poll (wait) · at 10,000 watched descriptors · 7 samples",
        ]
    );
    let offsets: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("sock_poll+").map(|line| line.1)).collect();
    assert_eq!(offsets, ["0x0", "0x1a3", "0x1a7", "0x1a3"]);
    let names = printed(Chosen::Named("sock_pol")).unwrap_err();
    assert_eq!(names, ["fdget", "memcpy", "sock_poll"]);
    assert!(printed(Chosen::Named("")).is_err(), "code without a symbol has no name");
}
