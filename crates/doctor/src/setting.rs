//! One file of the kernel that holds a setting: reading it, writing it, and the command for that.

use super::Unknown;
use super::machine::Machine;
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Where sysctls are.
const SYSCTLS: &str = "/proc/sys/";
/// Settings elsewhere.
const DEVICES: &str = "/sys/";

/// What a file of the kernel is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its path on the machine.
    pub file: String,
    /// What to write.
    pub value: String,
}

/// What a file holds now, as it would be written: of `always [madvise] never` the chosen word.
pub fn current(machine: &Machine, file: &str) -> Result<String, Unknown> {
    let text = machine.read(file)?;
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let words = chosen.map_or(text.as_str(), |(word, _)| word).split_whitespace();
    Ok(words.collect::<Vec<_>>().join(" "))
}

/// Writes a setting in one go, as the kernel wants it, and makes no file where there is none.
pub fn write(machine: &Machine, file: &str, value: &str) -> io::Result<()> {
    let mut open = std::fs::OpenOptions::new();
    // A file of the kernel is never cut short; one that stands in for it has to be.
    let mut opened = open.write(true).truncate(true).open(machine.path(file))?;
    opened.write_all(format!("{value}\n").as_bytes())
}

/// Whether knee may write a file that a state file names: settings only, whoever wrote that file.
pub fn is_setting(file: &str) -> bool {
    let below = file.starts_with(SYSCTLS) || file.starts_with(DEVICES);
    below && !file.split('/').any(|part| part == "..")
}

/// The shell command that writes them. All of them are sysctls, or all get the same value.
pub fn settings_command(settings: &[Setting], is_root: bool) -> String {
    let sudo = sys::limits::sudo(is_root);
    let sysctl = |setting: &Setting| {
        let name = setting.file.strip_prefix(SYSCTLS)?.replace('/', ".");
        let quote = if setting.value.contains(' ') { "'" } else { "" };
        Some(format!("{name}={quote}{}{quote}", setting.value))
    };
    let sysctls: Option<Vec<String>> = settings.iter().map(sysctl).collect();
    match (sysctls, settings) {
        (_, []) => String::new(),
        (Some(sysctls), _) => format!("{sudo}sysctl -w {}", sysctls.join(" ")),
        (None, [first, ..]) => {
            let mut files: Vec<String> =
                settings.iter().map(|setting| any_number(&setting.file)).collect();
            files.dedup();
            let mut command = format!("echo {} | {sudo}tee", first.value);
            for file in files {
                // Writing to a String can't fail.
                let _ = write!(command, " {file}");
            }
            command
        }
    }
}

/// `policy12` of a path becomes `policy*`, so that a command does not name each of 64 CPUs.
fn any_number(file: &str) -> String {
    let part = |part: &str| match part.strip_prefix("policy") {
        Some(number) if !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()) => {
            "policy*".to_owned()
        }
        _ => part.to_owned(),
    };
    file.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn setting(file: &str, value: &str) -> Setting {
        Setting { file: file.into(), value: value.into() }
    }

    #[test]
    fn a_command_is_what_one_would_type() {
        let ports = setting("/proc/sys/net/ipv4/ip_local_port_range", "1024 65535");
        assert_eq!(
            settings_command(std::slice::from_ref(&ports), false),
            "sudo sysctl -w net.ipv4.ip_local_port_range='1024 65535'"
        );
        let queue = setting("/proc/sys/net/core/somaxconn", "4096");
        assert_eq!(settings_command(&[queue], true), "sysctl -w net.core.somaxconn=4096");
        let policies: Vec<Setting> = (0..12)
            .map(|n| setting(&format!("/sys/x/policy{n}/scaling_governor"), "performance"))
            .collect();
        assert_eq!(
            settings_command(&policies, true),
            "echo performance | tee /sys/x/policy*/scaling_governor"
        );
    }

    #[test]
    fn what_is_read_is_what_would_be_written() {
        let fake = Fake::new()
            .with("/sys/thp", "always [madvise] never\n")
            .with("/proc/sys/range", "32768\t60999\n");
        let machine = fake.machine();
        assert_eq!(current(&machine, "/sys/thp").unwrap(), "madvise");
        assert_eq!(current(&machine, "/proc/sys/range").unwrap(), "32768 60999");
    }

    #[test]
    fn nothing_but_settings_may_be_written_and_none_is_made() {
        assert!(is_setting("/proc/sys/net/core/somaxconn") && is_setting("/sys/kernel/mm/x"));
        for file in ["/etc/passwd", "/proc/sys/../../etc/passwd", "/proc/sysrq-trigger", "sys/x"] {
            assert!(!is_setting(file), "{file}");
        }
        let fake = Fake::new();
        assert!(write(&fake.machine(), "/proc/sys/none", "1").is_err());
        assert!(!fake.machine().has("/proc/sys/none"));
    }
}
