//! The kernel's memory as `/proc/kcore` shows it: an ELF core file, whose segments are ranges of addresses; and the
//! variables in it, whose addresses are in `kallsyms`.

use crate::symbols::{FileSegment, file_range};
use object::Endianness;
use object::elf::{FileHeader64, PT_LOAD};
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileExt;

pub(crate) struct KernelMemory {
    file: File,
    segments: Vec<FileSegment>,
}

impl KernelMemory {
    /// Reads which addresses there are.
    ///
    /// # Errors
    /// It can't be read, or is no ELF core of 64 bits.
    pub fn open(file: File) -> io::Result<KernelMemory> {
        let data = ReadCache::new(file.try_clone()?);
        let header = FileHeader64::<Endianness>::parse(&data).map_err(io::Error::other)?;
        let endian = header.endian().map_err(io::Error::other)?;
        let segments = header.program_headers(endian, &data).map_err(io::Error::other)?;
        let memory = segments.iter().filter(|segment| segment.p_type(endian) == PT_LOAD);
        let memory = memory.map(|segment| {
            let (offset, size) = segment.file_range(endian);
            (offset, size, segment.p_vaddr(endian))
        });
        Ok(KernelMemory { segments: memory.collect(), file })
    }

    /// The bytes from `address`, as many as there are up to `length`.
    ///
    /// # Errors
    /// The address is in no segment, or its bytes can't be read.
    pub fn read(&self, address: u64, length: u64) -> io::Result<Vec<u8>> {
        let none = || io::Error::other(format!("it does not hold the address {address:#x}"));
        let (offset, rest) = file_range(&self.segments, address).ok_or_else(none)?;
        let mut bytes = vec![0; length.min(rest) as usize];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

/// The first eight bytes of each of these variables or functions of the kernel that there are, by name.
///
/// # Errors
/// The kernel shows its memory, or the addresses in it, to root only, and some kernels to none.
pub fn kernel_variables(names: &[&str]) -> io::Result<BTreeMap<String, u64>> {
    let symbols = File::open("/proc/kallsyms")?;
    let addresses = addresses(BufReader::new(symbols), names)?;
    let memory = KernelMemory::open(File::open("/proc/kcore")?)?;
    let word = |(name, address): (String, u64)| {
        let bytes = memory.read(address, 8)?;
        let bytes: Result<[u8; 8], _> = bytes.as_slice().try_into();
        let word = bytes.map_err(|_| io::Error::other(format!("{name} is cut off")))?;
        Ok((name, u64::from_ne_bytes(word)))
    };
    addresses.into_iter().map(word).collect()
}

/// The addresses of those of `names` that `kallsyms` lists. Modules, which are behind the kernel itself, are not read.
fn addresses(kallsyms: impl BufRead, names: &[&str]) -> io::Result<BTreeMap<String, u64>> {
    let mut addresses = BTreeMap::new();
    for line in kallsyms.lines() {
        let line = line?;
        let mut words = line.split(' ');
        let (Some(address), Some(_), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        if name.contains('\t') || addresses.len() == names.len() {
            break;
        }
        if names.contains(&name) {
            let address = u64::from_str_radix(address, 16).unwrap_or_default();
            if address == 0 {
                return Err(io::Error::other("the kernel hides its addresses"));
            }
            addresses.insert(name.to_owned(), address);
        }
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// The sizes of the header of a 64-bit ELF file, and of one of its segments' headers.
    const HEADER_BYTES: usize = 64;
    const SEGMENT_BYTES: usize = 56;

    /// A core of these segments (kind, address, bytes), as the kernel lays it out.
    fn core(segments: &[(u32, u64, &[u8])]) -> Vec<u8> {
        let order = if cfg!(target_endian = "big") { 2 } else { 1 };
        let mut header = vec![0x7f, b'E', b'L', b'F', 2, order, 1];
        header.resize(HEADER_BYTES, 0);
        header[32..40].copy_from_slice(&(HEADER_BYTES as u64).to_ne_bytes());
        header[54..56].copy_from_slice(&(SEGMENT_BYTES as u16).to_ne_bytes());
        header[56..58].copy_from_slice(&(segments.len() as u16).to_ne_bytes());
        let mut offset = HEADER_BYTES + SEGMENT_BYTES * segments.len();
        let mut contents = Vec::new();
        for (kind, address, bytes) in segments {
            let mut segment = kind.to_ne_bytes().to_vec();
            segment.extend([0; 4]);
            let length = bytes.len() as u64;
            for word in [offset as u64, *address, 0, length, length, 0] {
                segment.extend(word.to_ne_bytes());
            }
            header.extend(segment);
            contents.extend_from_slice(bytes);
            offset += bytes.len();
        }
        [header, contents].concat()
    }

    fn open(bytes: &[u8]) -> io::Result<KernelMemory> {
        let mut file = tempfile();
        file.write_all(bytes).unwrap();
        KernelMemory::open(file)
    }

    /// A file without a name.
    fn tempfile() -> File {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("knee-core-{}-{number}", std::process::id()));
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    #[test]
    fn addresses_are_read_from_their_segments() {
        let text = 0xffff_ffff_8100_0000;
        let segments: [(u32, u64, &[u8]); 3] = [
            (4, text, b"a note"),
            (PT_LOAD.0, text, b"kernel text"),
            (PT_LOAD.0, 0xffff_8880_0000_0000, b"data"),
        ];
        let memory = open(&core(&segments)).unwrap();
        assert_eq!(memory.read(text, 6).unwrap(), b"kernel");
        assert_eq!(memory.read(text + 7, 100).unwrap(), b"text", "up to the segment's end");
        assert_eq!(memory.read(0xffff_8880_0000_0000, 4).unwrap(), b"data");
        assert!(memory.read(text + 11, 1).is_err());
        assert!(memory.read(0, 1).is_err());
    }

    #[test]
    fn what_is_no_core_or_is_cut_off_is_refused() {
        let whole = core(&[(PT_LOAD.0, 0x1000, b"text")]);
        for length in 0..HEADER_BYTES + SEGMENT_BYTES {
            assert!(open(&whole[..length]).is_err(), "{length}");
        }
        let cut = open(&whole[..whole.len() - 1]).unwrap();
        assert!(cut.read(0x1000, 4).is_err(), "not a byte is made up");
        let mut narrow = whole.clone();
        narrow[4] = 1;
        assert!(open(&narrow).is_err());
        let mut odd = whole;
        odd[54] = 7;
        assert!(open(&odd).is_err());
    }

    #[test]
    fn variables_are_found_by_their_whole_names() {
        let list = "ffffffff81000000 T _text\nffffffff82c0a1b0 D virt_spin_lock_key\n\
                    ffffffff82c0a1b8 d virt_spin_lock_key_other\nffffffffc0000000 d late\t[module]\n";
        let listed = |names: &[&str]| addresses(list.as_bytes(), names).unwrap();
        assert_eq!(
            listed(&["virt_spin_lock_key", "absent", "late"]),
            BTreeMap::from([("virt_spin_lock_key".to_owned(), 0xffff_ffff_82c0_a1b0)])
        );
        let hidden = "0000000000000000 D virt_spin_lock_key\n";
        assert!(addresses(hidden.as_bytes(), &["virt_spin_lock_key"]).is_err());
    }
}
