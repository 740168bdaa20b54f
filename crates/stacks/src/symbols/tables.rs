//! Symbols that are read once for the life of the program: those of files, of the kernel, and of the kernel's code
//! in user space.

use crate::symbols::maps::Maps;
use crate::symbols::{FileSymbols, KernelSymbols};
use object::read::ReadCache;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// Files whose symbols are kept.
const FILES_MAX: usize = 64;
/// More than any kernel's code in user space.
const VDSO_BYTES_MAX: u64 = 1 << 20;

/// What tells a file's contents apart from others: device, inode, size and time of change.
type FileKey = (u64, u64, u64, i64, i64);

static FILES: Mutex<BTreeMap<FileKey, Arc<FileSymbols>>> = Mutex::new(BTreeMap::new());
static KERNEL: Mutex<Option<(String, Arc<KernelSymbols>)>> = Mutex::new(None);
static VDSO: OnceLock<Option<Vdso>> = OnceLock::new();

/// The kernel's code in user space: the same bytes in every process.
pub(crate) struct Vdso {
    pub bytes: Vec<u8>,
    pub symbols: FileSymbols,
}

/// The functions of a file; none where it is no ELF file.
pub(crate) fn file_symbols(file: &File) -> Option<Arc<FileSymbols>> {
    let metadata = file.metadata().ok()?;
    let (device, inode, size) = (metadata.dev(), metadata.ino(), metadata.size());
    let key = (device, inode, size, metadata.ctime(), metadata.ctime_nsec());
    if let Some(symbols) = FILES.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Some(Arc::clone(symbols));
    }
    // What is no ELF file is kept too, as without symbols.
    let data = ReadCache::new(file.try_clone().ok()?);
    let symbols = Arc::new(FileSymbols::parse(&data).unwrap_or_default());
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if files.len() >= FILES_MAX {
        files.clear();
    }
    files.insert(key, Arc::clone(&symbols));
    Some(symbols)
}

/// The functions of the kernel and of the modules that it has now; none where it hides them, or where
/// reading takes until `until`.
pub(crate) fn kernel_symbols(until: Instant) -> Arc<KernelSymbols> {
    let modules = fs::read_to_string("/proc/modules").unwrap_or_default();
    let mut kept = KERNEL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((kept_modules, symbols)) = &*kept
        && same_modules(kept_modules, &modules)
        && !symbols.is_empty()
    {
        return Arc::clone(symbols);
    }
    let symbols = File::open("/proc/kallsyms").map_or_else(
        |_| KernelSymbols::default(),
        |list| KernelSymbols::parse(BufReader::new(list), until),
    );
    let symbols = Arc::new(symbols);
    *kept = Some((modules, Arc::clone(&symbols)));
    symbols
}

/// Whether the same modules are at the same addresses: the text also counts who uses each.
fn same_modules(left: &str, right: &str) -> bool {
    let module = |line: &str| -> Vec<String> {
        let words = line.split_whitespace().enumerate();
        words
            .filter(|(index, _)| matches!(index, 0 | 1 | 5))
            .map(|(_, word)| word.to_owned())
            .collect()
    };
    left.lines().map(module).eq(right.lines().map(module))
}

/// The kernel's code in user space, from this process; none where it has none.
pub(crate) fn vdso() -> Option<&'static Vdso> {
    VDSO.get_or_init(read_vdso).as_ref()
}

fn read_vdso() -> Option<Vdso> {
    let maps = Maps::parse(&fs::read_to_string("/proc/self/maps").ok()?);
    let mapping = maps.iter().find(|mapping| mapping.path == "[vdso]")?;
    let length = (mapping.end - mapping.start).min(VDSO_BYTES_MAX);
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, mapping.start).ok()?;
    let symbols = FileSymbols::parse(&bytes[..]).ok()?;
    Some(Vdso { bytes, symbols })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_file_is_read_once_and_the_kernels_list_too() {
        let own = File::open("/proc/self/exe").unwrap();
        let first = file_symbols(&own).unwrap();
        assert!(Arc::ptr_eq(&first, &file_symbols(&own).unwrap()));
        let until = Instant::now() + Duration::from_secs(60);
        let kernel = kernel_symbols(until);
        if kernel.is_empty() {
            return eprintln!("SKIPPED: the kernel hides its addresses here");
        }
        assert!(Arc::ptr_eq(&kernel, &kernel_symbols(until)));
        // Once they are read, they are there for whoever has no time.
        assert!(!kernel_symbols(Instant::now()).is_empty());
    }

    #[test]
    fn modules_are_the_same_whatever_uses_them() {
        let nfs = "nfs 1024 2 - Live 0xffffffffc0000000\n";
        assert!(same_modules(nfs, "nfs 1024 7 ext4, Live 0xffffffffc0000000\n"));
        assert!(!same_modules(nfs, "nfs 1024 2 - Live 0xffffffffc0001000\n"));
        assert!(!same_modules(nfs, ""));
    }

    #[test]
    fn the_kernels_code_in_user_space_has_symbols() {
        let Some(vdso) = vdso() else { return eprintln!("SKIPPED: no vDSO here") };
        let names = (0..0x1000).filter_map(|offset| vdso.symbols.at(offset));
        assert!(names.map(|symbol| symbol.name).any(|name| name.contains("clock_gettime")));
    }
}
