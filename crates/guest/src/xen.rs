//! Xen below a kernel, from the image that a distribution installs.

use flate2::read::GzDecoder;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Xen on a machine, with a kernel as its first domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xen {
    /// Its image, which QEMU's loader understands: not compressed.
    pub image: PathBuf,
}

/// How every ELF file begins, and one that is compressed by gzip.
const ELF: &[u8] = b"\x7fELF";
const GZIP: &[u8] = b"\x1f\x8b";
/// No image of Xen is larger.
const MIB_MAX: u64 = 64;

impl Xen {
    /// The hypervisor of the file `image`, compressed or not. `directory` takes what QEMU loads.
    ///
    /// # Errors
    /// The file can't be read, or is no image of Xen.
    pub fn unpack(image: &Path, directory: &Path) -> io::Result<Xen> {
        let bytes = unpacked(image)?;
        if !bytes.starts_with(ELF) {
            let what = "it is no image of Xen: the package xen-hypervisor-4.17-amd64 has one";
            return Err(io::Error::other(what));
        }
        let path = directory.join("xen");
        fs::write(&path, bytes)?;
        Ok(Xen { image: path })
    }
}

fn unpacked(image: &Path) -> io::Result<Vec<u8>> {
    let bytes = sys::file::read(image, MIB_MAX)?;
    if !bytes.starts_with(GZIP) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    let bytes_max = MIB_MAX << 20;
    GzDecoder::new(bytes.as_slice()).take(bytes_max + 1).read_to_end(&mut unpacked)?;
    if unpacked.len() as u64 > bytes_max {
        return Err(io::Error::other(format!("unpacked, it is larger than {MIB_MAX} MiB")));
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Accelerator, Hardware, Kernel, Machine};
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    #[test]
    fn a_compressed_image_is_unpacked_and_the_kernel_is_its_module() {
        let name = format!("knee-xen-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir(&directory).unwrap();
        let image = directory.join("xen.gz");
        let mut packed = GzEncoder::new(fs::File::create(&image).unwrap(), Compression::fast());
        packed.write_all(b"\x7fELF and more").unwrap();
        packed.finish().unwrap();
        let xen = Xen::unpack(&image, &directory).unwrap();
        assert_eq!(fs::read(&xen.image).unwrap(), b"\x7fELF and more");
        fs::write(&image, "text").unwrap();
        let wrong = Xen::unpack(&image, &directory).unwrap_err().to_string();
        assert!(wrong.contains("no image of Xen"), "{wrong}");
        fs::remove_dir_all(&directory).unwrap();
        let kernel = Kernel {
            path: "/boot/vmlinuz".into(),
            machine: Machine::X86,
            release: "6.1".to_owned(),
        };
        let hardware = Hardware {
            kernel,
            cpus: 4,
            memory_mib: 1024,
            cpu: "max".to_owned(),
            append: "nopvspin a=1,2".to_owned(),
            accelerator: Accelerator::Tcg,
            xen: Some(xen.clone()),
        };
        let words = hardware.words(Path::new("/tmp/root"));
        let behind = |flag: &str| {
            let at = words.iter().position(|word| word == flag).unwrap();
            words[at + 1].to_string_lossy().into_owned()
        };
        assert_eq!(behind("-kernel"), xen.image.to_string_lossy());
        assert!(behind("-append").contains("dom0_max_vcpus=4"), "{words:?}");
        let modules = behind("-initrd");
        assert!(modules.starts_with("/boot/vmlinuz console=hvc0"), "{modules}");
        assert!(modules.ends_with("nopvspin a=1,,2,/tmp/root"), "{modules}");
    }
}
