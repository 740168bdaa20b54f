//! Settings of the kernel that bound sockets, files and queues of the whole machine.

use super::needs::{OWN, SOCKETS};
use super::{Check, Diagnosis, Group, Machine, Remedy, Unknown};
use printable::count;

/// Why either queue of a listener matters.
const QUEUE: &str = "a server under load next to a run drops connections beyond it; accept itself has \
                     one waiting at a time";

/// The family.
pub static GROUP: Group = Group {
    name: "Sockets and files",
    distorts_times: false,
    checks: &[
        Check {
            name: "ports",
            looks_at: "ports that the kernel hands out (net.ipv4.ip_local_port_range)",
            why: "each bind to port 0 and each connection takes one; the fuller the range, the \
                  longer the search",
            workloads: &["bind", "accept"],
            fix_risk: None,
            look: ports,
        },
        Check {
            name: "somaxconn",
            looks_at: "the maximum queue of connections to accept (net.core.somaxconn)",
            why: QUEUE,
            workloads: &["accept"],
            fix_risk: None,
            look: |machine| {
                let row = AtLeast { bad: 1, warn: 4_096, set: 4_096, what: "a burst of connects" };
                at_least(machine, "/proc/sys/net/core/somaxconn", &row)
            },
        },
        Check {
            name: "syn-backlog",
            looks_at: "half-open connections of a listener (net.ipv4.tcp_max_syn_backlog)",
            why: QUEUE,
            workloads: &["accept"],
            fix_risk: None,
            look: |machine| {
                let row = AtLeast { bad: 1, warn: 1_024, set: 4_096, what: "a burst of connects" };
                at_least(machine, "/proc/sys/net/ipv4/tcp_max_syn_backlog", &row)
            },
        },
        Check {
            name: "file-max",
            looks_at: "open files of the whole machine (fs.file-max)",
            why: "sockets and pipes count as files, those of all other programs too",
            workloads: &[
                "poll",
                "pipetest",
                "socket",
                "bind",
                "accept",
                "close",
                "open",
                "manyfiles",
            ],
            fix_risk: None,
            look: |machine| {
                let row = AtLeast {
                    bad: 2 * SOCKETS + OWN,
                    warn: 100_000,
                    set: 262_144,
                    what: "10,000 pairs besides all else",
                };
                at_least(machine, "/proc/sys/fs/file-max", &row)
            },
        },
        Check {
            name: "nr-open",
            looks_at: "how far a limit on descriptors may be raised (fs.nr_open)",
            why: "no RLIMIT_NOFILE goes beyond it",
            workloads: &[
                "poll",
                "pipetest",
                "socket",
                "bind",
                "accept",
                "close",
                "open",
                "manyfiles",
            ],
            fix_risk: None,
            look: |machine| {
                let need = SOCKETS + OWN;
                let row = AtLeast { bad: need, warn: need, set: 1_048_576, what: "10,000 sockets" };
                at_least(machine, "/proc/sys/fs/nr_open", &row)
            },
        },
        Check {
            name: "aio-max",
            looks_at: "requests of Linux AIO that are still free (fs.aio-max-nr)",
            why: "aio-poll asks for one for each watched descriptor",
            workloads: &["poll", "pipetest"],
            fix_risk: None,
            look: aio,
        },
        Check {
            name: "ipv6",
            looks_at: "whether the loopback device speaks IPv6",
            why: "without it the subject ipv6 is unavailable",
            workloads: &["socket", "bind", "accept", "close"],
            fix_risk: Some("an administrator may have switched IPv6 off for a reason"),
            look: ipv6,
        },
    ],
};

/// What a number is to be at least.
struct AtLeast {
    /// Below this no default can be measured.
    bad: u64,
    /// Below this the reader should know.
    warn: u64,
    /// What fixes it.
    set: u64,
    /// What needs it.
    what: &'static str,
}

fn at_least(machine: &Machine, file: &str, row: &AtLeast) -> Result<Diagnosis, Unknown> {
    let number = machine.number(file)?;
    let value = count(number);
    let remedy = Remedy::setting(file, row.set);
    Ok(match number {
        number if number < row.bad => {
            Diagnosis::bad(value, format!("{} needs {}", row.what, count(row.bad)), remedy)
        }
        number if number < row.warn => {
            Diagnosis::warn(value, format!("{} is safe from {}", row.what, count(row.warn)), remedy)
        }
        _ => Diagnosis::ok(value),
    })
}

fn ports(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let file = "/proc/sys/net/ipv4/ip_local_port_range";
    let text = machine.read(file)?;
    let ends: Vec<u64> = text.split_whitespace().filter_map(|end| end.parse().ok()).collect();
    let &[first, last] = ends.as_slice() else {
        return Err(Unknown(format!("{file} holds no range, but `{text}`")));
    };
    let ports = (last + 1).saturating_sub(first);
    let value = format!("{} ({first} to {last})", count(ports));
    let remedy = Remedy::setting(file, "1024 65535");
    Ok(if ports < SOCKETS {
        Diagnosis::bad(value, "10,000 sockets need a port each", remedy)
    } else if ports < 2 * SOCKETS {
        Diagnosis::warn(value, "10,000 sockets take more than half of them", remedy)
    } else {
        Diagnosis::ok(value)
    })
}

fn aio(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let file = "/proc/sys/fs/aio-max-nr";
    let (max, taken) = (machine.number(file)?, machine.number("/proc/sys/fs/aio-nr")?);
    let value = format!("{} of {}", count(max.saturating_sub(taken)), count(max));
    // The kernel sets twice as many aside as are asked for.
    let wanted = 2 * SOCKETS + OWN;
    if max.saturating_sub(taken) >= wanted {
        return Ok(Diagnosis::ok(value));
    }
    let says = format!("10,000 watched descriptors need {}", count(wanted));
    Ok(Diagnosis::bad(value, says, Remedy::setting(file, (wanted + taken).max(65_536))))
}

fn ipv6(machine: &Machine) -> Result<Diagnosis, Unknown> {
    if !machine.has("/proc/sys/net/ipv4") {
        return Err(Unknown("there is no /proc/sys/net here".into()));
    }
    if !machine.has("/proc/sys/net/ipv6") {
        let remedy = Remedy::advice("boot a kernel with IPv6, and without ipv6.disable=1");
        return Ok(Diagnosis::warn("no", "this kernel has none", remedy));
    }
    let file = "/proc/sys/net/ipv6/conf/lo/disable_ipv6";
    if machine.number(file)? != 0 {
        return Ok(Diagnosis::warn("no", "it is switched off", Remedy::setting(file, 0)));
    }
    let addresses = machine.read("/proc/net/if_inet6")?;
    if addresses.lines().any(|line| line.split_whitespace().last() == Some("lo")) {
        return Ok(Diagnosis::ok("yes"));
    }
    let remedy = Remedy::command(format!("{}ip link set lo up", machine.sudo()));
    Ok(Diagnosis::warn("no", "the loopback device has no address ::1", remedy))
}

#[cfg(test)]
mod tests {
    use crate::State;
    use crate::fake::Fake;

    #[test]
    fn numbers_that_are_too_small_are_found_with_their_fix() {
        let cases = [
            ("somaxconn", "net/core/somaxconn", "128", "4096", State::Warn),
            ("syn-backlog", "net/ipv4/tcp_max_syn_backlog", "512", "1024", State::Warn),
            ("file-max", "fs/file-max", "50000", "100000", State::Warn),
            ("file-max", "fs/file-max", "20000", "9223372036854775807", State::Bad),
            ("nr-open", "fs/nr_open", "4096", "1048576", State::Bad),
        ];
        for (name, file, few, enough, wanted) in cases {
            let file = format!("/proc/sys/{file}");
            let fake = Fake::new().with(&file, few);
            let (state, output, command) = fake.finds(name);
            assert_eq!(state, wanted, "{name}: {output}");
            let key = file.trim_start_matches("/proc/sys/").replace('/', ".");
            assert!(command.starts_with(&format!("sysctl -w {key}=")), "{command}");
            fake.set(&file, enough);
            assert_eq!(fake.finds(name).0, State::Ok, "{name}");
            fake.set(&file, "plenty");
            let (state, output, _) = fake.finds(name);
            assert!(state == State::Unknown && output.contains("no whole number"), "{output}");
        }
    }

    #[test]
    fn ports_are_counted_with_both_ends() {
        let file = "/proc/sys/net/ipv4/ip_local_port_range";
        let fake = Fake::new().with(file, "32768\t60999\n");
        let (state, output, _) = fake.finds("ports");
        assert!(state == State::Ok && output.starts_with("28,232 (32768 to 60999)"), "{output}");
        for (range, wanted) in [
            ("40000 50000", State::Warn),
            ("40001 50000", State::Warn),
            ("40001 49999", State::Bad),
            ("40000 39999", State::Bad),
        ] {
            fake.set(file, range);
            let (state, output, command) = fake.finds("ports");
            assert_eq!(state, wanted, "{range}: {output}");
            assert_eq!(command, "sysctl -w net.ipv4.ip_local_port_range='1024 65535'");
        }
        fake.set(file, "all");
        assert_eq!(fake.finds("ports").0, State::Unknown);
    }

    #[test]
    fn requests_of_aio_are_those_that_are_free() {
        let fake =
            Fake::new().with("/proc/sys/fs/aio-max-nr", "65536").with("/proc/sys/fs/aio-nr", "0");
        assert_eq!(fake.finds("aio-max").0, State::Ok);
        fake.set("/proc/sys/fs/aio-nr", "60000");
        let (state, output, command) = fake.finds("aio-max");
        assert!(state == State::Bad && output.starts_with("5,536 of 65,536"), "{output}");
        assert!(command.starts_with("sysctl -w fs.aio-max-nr=8"), "{command}");
    }

    #[test]
    fn ipv6_is_absent_off_without_address_or_there() {
        let fake = Fake::new().with("/proc/sys/net/ipv4/x", "");
        let (state, output, _) = fake.finds("ipv6");
        assert!(state == State::Warn && output.contains("kernel has none"), "{output}");
        let switch = "/proc/sys/net/ipv6/conf/lo/disable_ipv6";
        fake.set(switch, "1");
        let (state, _, command) = fake.finds("ipv6");
        assert_eq!(state, State::Warn);
        assert_eq!(command, "sysctl -w net.ipv6.conf.lo.disable_ipv6=0");
        fake.set(switch, "0");
        fake.set("/proc/net/if_inet6", "");
        assert_eq!(fake.finds("ipv6").2, "ip link set lo up");
        fake.set("/proc/net/if_inet6", "00000000000000000000000000000001 01 80 10 80       lo\n");
        assert_eq!(fake.finds("ipv6").0, State::Ok);
    }
}
