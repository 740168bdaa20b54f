//! Kernel images: what a file is, and which version.

use std::path::{Path, PathBuf};

/// An image that QEMU can boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The file.
    pub path: PathBuf,
    /// What it was built for.
    pub machine: Machine,
    /// The release that it says of itself (`6.1.0-53-cloud-amd64`); empty where the image does not say it.
    pub release: String,
}

/// A processor architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 64-bit x86.
    X86,
    /// 64-bit ARM.
    Arm,
}

impl Machine {
    /// That of this program, which runs in the guest too.
    pub fn here() -> Option<Machine> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Machine::X86),
            "aarch64" => Some(Machine::Arm),
            _ => None,
        }
    }

    /// Its name: `x86-64`.
    pub fn name(self) -> &'static str {
        match self {
            Machine::X86 => "x86-64",
            Machine::Arm => "arm64",
        }
    }

    /// The guest's end of the wire.
    pub fn wire_device(self) -> &'static str {
        match self {
            Machine::X86 => "/dev/ttyS1",
            // QEMU's board has one serial port, the console. The wire's is on PCI, and the first of its driver.
            Machine::Arm => "/dev/ttyS0",
        }
    }
}

/// Where the header of an x86 image begins, in bytes.
const SETUP: usize = 0x1f1;
/// The version of the header, and from which one on the lowest bit of its flags says that the kernel has 64 bits.
const PROTOCOL: usize = 0x206;
const PROTOCOL_OF_FLAGS: u64 = 0x20c;
const LOAD_FLAGS: usize = 0x236;

/// No image is larger: one with an initramfs of all drivers and firmware has 200 MiB.
const MIB_MAX: u64 = 1024;

impl Kernel {
    /// What the file at `path` is.
    ///
    /// # Errors
    /// Why it can't be booted.
    pub fn read(path: &Path) -> Result<Kernel, String> {
        let read = sys::file::read(path, MIB_MAX);
        let bytes = read.map_err(|error| error.to_string())?;
        let (machine, release) = recognised(&bytes)?;
        Ok(Kernel { path: path.to_owned(), machine, release })
    }
}

fn recognised(bytes: &[u8]) -> Result<(Machine, String), String> {
    if bytes.starts_with(b"\x7fELF") {
        return Err(
            "it is an ELF file, as vmlinux is: give arch/x86/boot/bzImage of the same tree".into(),
        );
    }
    if bytes.get(0x202..0x206) == Some(b"HdrS") {
        return x86(bytes).map(|release| (Machine::X86, release));
    }
    if bytes.get(56..60) == Some(b"ARM\x64") {
        return Ok((Machine::Arm, arm_release(bytes)));
    }
    Err("it is no kernel image: a bzImage of x86 or an Image of arm64 is".into())
}

/// The release in the banner of an arm64 image, whose header has none.
fn arm_release(bytes: &[u8]) -> String {
    const BANNER: &[u8] = b"Linux version ";
    let starts = bytes.windows(BANNER.len()).enumerate().filter(|(_, text)| *text == BANNER);
    let mut releases = starts.map(|(start, _)| release(&bytes[start + BANNER.len()..]));
    // The banner's format string has no release.
    releases.find(|release| release.starts_with(|c: char| c.is_ascii_digit())).unwrap_or_default()
}

/// What `text` has up to its first space.
fn release(text: &[u8]) -> String {
    let release = text.split(|byte| matches!(byte, 0 | b' ')).next().unwrap_or_default();
    printable::one_line(&String::from_utf8_lossy(&release[..release.len().min(100)]))
}

/// The release in the header of an x86 image, which has all that it claims.
fn x86(bytes: &[u8]) -> Result<String, String> {
    let byte = |at: usize| u64::from(bytes.get(at).copied().unwrap_or(0));
    let word = |at: usize| byte(at) | byte(at + 1) << 8;
    // Zero stands for four, as it did in the oldest images.
    let sectors = match byte(SETUP) {
        0 => 4,
        sectors => sectors,
    };
    let paragraphs = word(0x1f4) | word(0x1f6) << 16;
    let want = (sectors + 1) * 512 + paragraphs * 16;
    let have = bytes.len() as u64;
    if have < want {
        return Err(format!("it is cut off: it has {have} of {want} bytes"));
    }
    if word(PROTOCOL) >= PROTOCOL_OF_FLAGS && byte(LOAD_FLAGS) & 1 == 0 {
        return Err(
            "it is a 32-bit kernel, which can't run this 64-bit knee: it needs CONFIG_64BIT=y"
                .into(),
        );
    }
    let at = word(0x20e) as usize + 0x200;
    Ok(release(bytes.get(at..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image of two sectors of setup and one paragraph of kernel, which says that it is 6.1.0-test.
    fn image() -> Vec<u8> {
        let mut bytes = vec![0; 3 * 512 + 16];
        bytes[SETUP] = 2;
        bytes[0x1f4] = 1;
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x20e] = 0x80;
        bytes[0x280..0x293].copy_from_slice(b"6.1.0-test (a@b) #1");
        bytes
    }

    #[test]
    fn an_image_says_its_release() {
        assert_eq!(recognised(&image()), Ok((Machine::X86, "6.1.0-test".into())));
        let mut arm = vec![0; 64];
        arm[56..60].copy_from_slice(b"ARM\x64");
        assert_eq!(recognised(&arm), Ok((Machine::Arm, String::new())));
        arm.extend(b"Linux version %s (%s)\0Linux version 6.1.0-arm (a@b) #1");
        assert_eq!(recognised(&arm), Ok((Machine::Arm, "6.1.0-arm".into())));
    }

    #[test]
    fn what_can_not_be_booted_is_refused_with_its_reason() {
        let whole = image();
        let cut = &whole[..whole.len() - 1];
        let fault = |bytes: &[u8]| recognised(bytes).unwrap_err();
        assert_eq!(fault(cut), "it is cut off: it has 1551 of 1552 bytes");
        assert!(fault(b"\x7fELF\x02").starts_with("it is an ELF file"));
        for foreign in [&b""[..], b"#!/bin/sh", &[0; 4096]] {
            assert!(fault(foreign).starts_with("it is no kernel image"));
        }
        let mut narrow = image();
        (narrow[PROTOCOL], narrow[PROTOCOL + 1]) = (0x0f, 0x02);
        assert!(fault(&narrow).starts_with("it is a 32-bit kernel"));
        narrow[LOAD_FLAGS] = 1;
        assert_eq!(recognised(&narrow), Ok((Machine::X86, "6.1.0-test".into())));
        let mut far = image();
        far[0x20f] = 0xff;
        assert_eq!(recognised(&far), Ok((Machine::X86, String::new())));
    }
}
