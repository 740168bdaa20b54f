//! The machine that a kernel is booted on: QEMU's arguments.

use crate::init::MARK;
use crate::kernel::{Kernel, Machine};
use crate::xen::Xen;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What runs the guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerator {
    /// The CPU itself.
    Kvm,
    /// QEMU: figures are ratios only.
    Tcg,
}

impl Accelerator {
    /// QEMU's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg",
        }
    }
}

/// A virtual machine for one kernel.
#[derive(Clone, Debug)]
pub struct Hardware {
    /// The kernel.
    pub kernel: Kernel,
    /// How many CPUs the guest has.
    pub cpus: u32,
    /// Its memory, in MiB.
    pub memory_mib: u64,
    /// QEMU's CPU model with its flags: `max,-smap`.
    pub cpu: String,
    /// Added to the kernel's command line.
    pub append: String,
    /// What runs it.
    pub accelerator: Accelerator,
    /// The hypervisor that is booted first, and the kernel as its first domain.
    pub xen: Option<Xen>,
}

/// What Xen keeps of the machine's memory for itself.
const XEN_MIB: u64 = 256;

/// Names of files in the directory of a guest.
pub(crate) const CONSOLE: &str = "console";
pub(crate) const WIRE: &str = "wire";
pub(crate) const MONITOR: &str = "monitor";
pub(crate) const LOG: &str = "qemu";

impl Hardware {
    /// The program: `qemu-system-x86_64`.
    pub fn program(&self) -> &'static str {
        program(self.kernel.machine)
    }

    /// The kernel's whole command line.
    pub fn command_line(&self) -> String {
        let console = match self.kernel.machine {
            // Xen has the first serial port, and keeps the clock.
            _ if self.xen.is_some() => "console=hvc0",
            // Where the host is busy, an emulated timer ticks too late for the kernel's check of it.
            Machine::X86 => "console=ttyS0 tsc=reliable clocksource=tsc no_timer_check",
            Machine::Arm => "console=ttyAMA0",
        };
        // The loader looks where the initramfs has the libraries. A panic ends QEMU at once.
        // The kernel hands init what is no parameter of its own.
        let init = format!("LD_LIBRARY_PATH=/lib {MARK}=1");
        format!("{console} panic=-1 quiet {init} {}", self.append).trim().to_owned()
    }

    /// QEMU's words, the program first. The guest's first serial port is its console, the second one the wire;
    /// both are files of the directory that QEMU runs in, as its monitor is.
    pub fn words(&self, initramfs: &Path) -> Vec<OsString> {
        let accelerator = match self.accelerator {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg,thread=multi",
        };
        let machine = match self.kernel.machine {
            // Xen looks for an HPET's interrupts that an emulated one does not give in time.
            Machine::X86 if self.xen.is_some() => "q35,hpet=off",
            Machine::X86 => "pc",
            // Its usual interrupt controller serves eight CPUs at most.
            Machine::Arm => "virt,gic-version=max",
        };
        let wire_port = match self.kernel.machine {
            Machine::X86 => ["-serial", "chardev:wire"],
            Machine::Arm => ["-device", "pci-serial,chardev=wire"],
        };
        let (cpus, memory) = (self.cpus.to_string(), format!("{}M", self.memory_mib));
        let console = format!("file,id=console,path={CONSOLE}");
        let [wire, monitor] =
            [WIRE, MONITOR].map(|name| format!("socket,id={name},path={name},server=on,wait=off"));
        let command_line = match &self.xen {
            Some(_) => self.xen_command_line(),
            None => self.command_line(),
        };
        let words: [&str; 33] = [
            self.program(),
            "-nodefaults",
            "-no-user-config",
            "-no-reboot",
            "-display",
            "none",
            "-machine",
            machine,
            "-accel",
            accelerator,
            "-cpu",
            &self.cpu,
            "-smp",
            &cpus,
            "-m",
            &memory,
            "-chardev",
            &console,
            "-serial",
            "chardev:console",
            "-chardev",
            &wire,
            wire_port[0],
            wire_port[1],
            "-chardev",
            &monitor,
            "-mon",
            "chardev=monitor,mode=control",
            "-append",
            &command_line,
            "-name",
            "knee,debug-threads=on",
            "-kernel",
        ];
        let mut words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let (image, modules) = match &self.xen {
            Some(xen) => (&xen.image, self.modules(initramfs)),
            None => (&self.kernel.path, initramfs.into()),
        };
        words.extend([absolute(image).into(), "-initrd".into(), modules]);
        words
    }

    /// Xen's own command line: a console, and as many CPUs for its first domain as the kernel is to have.
    fn xen_command_line(&self) -> String {
        let (cpus, memory) = (self.cpus, self.memory_mib.saturating_sub(XEN_MIB));
        format!(
            "console=com1 com1=115200,8n1 no-real-mode sched=credit dom0_mem={memory}M,max:{memory}M \
             dom0_max_vcpus={cpus}"
        )
    }

    /// The modules that QEMU hands to Xen: the kernel with its command line, and the root. A comma parts them, and two are a
    /// comma.
    fn modules(&self, initramfs: &Path) -> OsString {
        let path = absolute(&self.kernel.path);
        let kernel = path.to_string_lossy();
        let kernel = format!("{kernel} {}", self.command_line()).replace(',', ",,");
        let root = initramfs.to_string_lossy().replace(',', ",,");
        format!("{kernel},{root}").into()
    }
}

/// The same file from QEMU's own directory.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

pub(crate) fn program(machine: Machine) -> &'static str {
    match machine {
        Machine::X86 => "qemu-system-x86_64",
        Machine::Arm => "qemu-system-aarch64",
    }
}

/// The version that QEMU says of itself (`7.2.22`), or why it can't be started.
///
/// # Errors
/// Why it can't be started: [`io::ErrorKind::NotFound`] where it is not installed.
pub fn qemu_version(machine: Machine) -> io::Result<String> {
    let out = Command::new(program(machine)).arg("--version").stdin(Stdio::null()).output();
    let out = out.map_err(sys::limits::explained)?;
    let text = String::from_utf8_lossy(&out.stdout);
    let word = text.split_whitespace().skip_while(|word| *word != "version").nth(1);
    Ok(printable::one_line(word.unwrap_or("unknown")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(machine: Machine) -> Vec<String> {
        let hardware = Hardware {
            kernel: Kernel { path: "arch/Image".into(), machine, release: String::new() },
            cpus: 2,
            memory_mib: 512,
            cpu: "max".to_owned(),
            append: String::new(),
            accelerator: Accelerator::Tcg,
            xen: None,
        };
        let words = hardware.words(Path::new("/tmp/root"));
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_kernel_is_found_from_the_directory_of_qemu() {
        let words = words(Machine::X86);
        let kernel = words.iter().position(|word| word == "-kernel").unwrap() + 1;
        let here = std::env::current_dir().unwrap();
        assert_eq!(words[kernel], here.join("arch/Image").to_string_lossy());
    }

    /// QEMU gives a second serial port of this board to the secure world only.
    #[test]
    fn arm64_has_one_serial_port_on_its_board() {
        let words = words(Machine::Arm);
        let serial = words.iter().filter(|word| *word == "-serial").count();
        assert_eq!((serial, words.contains(&"pci-serial,chardev=wire".to_owned())), (1, true));
    }
}
