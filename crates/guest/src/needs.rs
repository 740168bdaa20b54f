//! What a kernel needs to be a guest, by the names of its configuration: looked up next to the image, where its builder
//! or its package left it, so that what is missing is named before the boot.

use crate::kernel::{Kernel, Machine};
use std::fs;
use std::path::PathBuf;

/// An option that must be built in, and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// `CONFIG_TMPFS`.
    pub option: &'static str,
    /// What a guest needs it for.
    pub purpose: &'static str,
    /// The architecture that needs it; all, where there is none.
    machine: Option<Machine>,
}

const fn need(option: &'static str, purpose: &'static str, machine: Option<Machine>) -> Need {
    Need { option, purpose, machine }
}

const NEEDS: [Need; 13] = [
    need("CONFIG_64BIT", "knee is a 64-bit program", None),
    need("CONFIG_BINFMT_ELF", "knee is an ELF file", None),
    need("CONFIG_BLK_DEV_INITRD", "its root is an initramfs", None),
    need("CONFIG_DEVTMPFS", "its devices", None),
    need("CONFIG_PROC_FS", "what is known of its processes", None),
    need("CONFIG_SYSFS", "what is known of its CPUs", None),
    need("CONFIG_TMPFS", "its directory of files", None),
    need("CONFIG_SERIAL_8250_CONSOLE", "its console", Some(Machine::X86)),
    need("CONFIG_SERIAL_8250", "its serial ports", Some(Machine::X86)),
    need("CONFIG_SERIAL_AMBA_PL011_CONSOLE", "its console", Some(Machine::Arm)),
    need("CONFIG_SERIAL_AMBA_PL011", "its console", Some(Machine::Arm)),
    need("CONFIG_SERIAL_8250_PCI", "its serial port on PCI", Some(Machine::Arm)),
    need("CONFIG_PCI_HOST_GENERIC", "its serial port on PCI", Some(Machine::Arm)),
];

/// No configuration of a kernel is larger: it has 300 KiB.
const MIB_MAX: u64 = 16;

impl Kernel {
    /// The needs that the configuration next to the image says are not built in, and the file that says so. A
    /// configuration that is not there says nothing.
    pub fn lacks(&self) -> Option<(PathBuf, Vec<Need>)> {
        self.configurations().into_iter().find_map(|path| {
            let lacking = lacking(&sys::file::read_text(&path, MIB_MAX).ok()?, self.machine)?;
            (!lacking.is_empty()).then_some((path, lacking))
        })
    }

    /// Where the image's configuration may be: `config-6.1.0` next to `vmlinuz-6.1.0`, and `.config` at the root of the
    /// tree that `arch/x86/boot/bzImage` is in.
    fn configurations(&self) -> Vec<PathBuf> {
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut all = Vec::new();
        if let Some(release) = name.strip_prefix("vmlinuz-") {
            all.push(path.with_file_name(format!("config-{release}")));
        }
        if path.iter().rev().nth(1).is_some_and(|directory| directory == "boot") {
            all.extend(path.ancestors().nth(4).map(|tree| tree.join(".config")));
        }
        all
    }
}

/// What `configuration` lacks; `None` where it is none.
fn lacking(configuration: &str, machine: Machine) -> Option<Vec<Need>> {
    if !configuration.contains("CONFIG_") {
        return None;
    }
    let has = |need: &Need| {
        let mut lines = configuration.lines();
        lines.any(|line| line.strip_prefix(need.option) == Some("=y"))
    };
    let of_machine = |need: &&Need| need.machine.is_none_or(|wanted| wanted == machine);
    Some(NEEDS.iter().filter(of_machine).filter(|need| !has(need)).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(path: PathBuf) -> Kernel {
        Kernel { path, machine: Machine::X86, release: String::new() }
    }

    /// A configuration of all that x86 needs, but for `option`.
    fn configuration_without(option: &str) -> String {
        let lines = NEEDS.iter().filter(|need| need.option != option);
        lines.map(|need| [need.option, "=y\n"].concat()).collect()
    }

    #[test]
    fn what_a_tree_or_a_package_lacks_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let boot = directory.path().join("linux/arch/x86/boot");
        fs::create_dir_all(&boot).unwrap();
        let image = kernel(boot.join("bzImage"));
        fs::write(&image.path, "").unwrap();
        assert_eq!(image.lacks(), None, "no configuration says nothing");
        let config = directory.path().join("linux/.config");
        fs::write(&config, configuration_without("")).unwrap();
        assert_eq!(image.lacks(), None);
        let text = configuration_without("CONFIG_TMPFS") + "CONFIG_TMPFS=m\n";
        fs::write(&config, text).unwrap();
        let (path, needs) = image.lacks().unwrap();
        assert_eq!(path, fs::canonicalize(config).unwrap());
        assert_eq!(needs.iter().map(|need| need.option).collect::<Vec<_>>(), ["CONFIG_TMPFS"]);

        let installed = kernel(directory.path().join("vmlinuz-6.1.0-1"));
        fs::write(&installed.path, "").unwrap();
        let without = configuration_without("CONFIG_BLK_DEV_INITRD");
        fs::write(directory.path().join("config-6.1.0-1"), without).unwrap();
        assert_eq!(installed.lacks().unwrap().1[0].option, "CONFIG_BLK_DEV_INITRD");
    }

    #[test]
    fn what_another_architecture_needs_is_not_lacking() {
        let arm_only = |need: &&Need| need.machine == Some(Machine::Arm);
        assert!(NEEDS.iter().any(|need| arm_only(&need)));
        assert_eq!(
            lacking(&configuration_without("CONFIG_SERIAL_AMBA_PL011"), Machine::X86),
            Some(vec![])
        );
        assert_eq!(lacking("not one", Machine::X86), None);
    }
}
