//! From addresses of living processes to symbols: each address becomes an offset in a file while the process
//! lives, and a name afterwards.

use crate::symbols::maps::{Mapping, Maps};
use crate::symbols::tables::{file_symbols, kernel_symbols, vdso};
use crate::symbols::unwinding::{Tabled, UnwindTables};
use crate::symbols::{FileSymbols, KernelSymbols, ListedSymbols, Symbol};
use model::FrameKind;
use rustix::fs::OFlags;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::sync::Arc;
use std::time::Instant;
use sys::proc;

/// Files that are kept open, so that they can be read when their process has gone and they are deleted.
const FILES_OPEN_MAX: usize = 64;
/// The most that is read of a compiler's list of its functions.
const LIST_BYTES_MAX: u64 = 16 << 20;

/// An address that outlives its process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CodeAddress {
    /// In a file of [`MappedFiles`], at this offset.
    File(usize, u64),
    /// In the kernel.
    Kernel(u64),
    /// In the kernel's code in user space, from its beginning.
    Vdso(u64),
    /// In memory of this process that is no file's.
    Memory(u32, u64),
    /// In no memory that is known.
    Unknown,
}

/// The files that addresses were found in.
#[derive(Default)]
pub(crate) struct MappedFiles {
    files: Vec<MappedFile>,
    indices: HashMap<(u64, String), usize>,
    /// The users that processes run as, whose code is in no file.
    owners: HashMap<u32, Option<u32>>,
    pub(super) tables: HashMap<Tabled, UnwindTables>,
}

struct MappedFile {
    inode: u64,
    path: String,
    module: String,
    /// None where the mapped file can't be opened, or there are [`FILES_OPEN_MAX`] others.
    file: Option<File>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResolvedAddress {
    pub kind: FrameKind,
    /// The path of its file.
    pub path: Option<String>,
    /// Where it is: `kernel`, `libc.so.6`; empty where that is not known.
    pub module: String,
    pub symbol: Option<Symbol>,
    /// The offset in the function, or in the file where the function is not known.
    pub offset: u64,
}

impl MappedFiles {
    /// Where `address` is in the process `pid`. Opens its file, so that it can be read when the process is gone.
    pub fn locate(&mut self, pid: u32, program: &str, maps: &Maps, address: u64) -> CodeAddress {
        let Some(mapping) = maps.find(address) else { return CodeAddress::Unknown };
        if mapping.path == "[vdso]" {
            return CodeAddress::Vdso(address - mapping.start);
        }
        // A program that was started from memory has symbols like any other.
        if !mapping.is_of_file() && (program.is_empty() || mapping.path != program) {
            self.owners.entry(pid).or_insert_with(|| owner(pid));
            return CodeAddress::Memory(pid, address);
        }
        let offset = (address - mapping.start).wrapping_add(mapping.offset);
        CodeAddress::File(self.index(pid, program, mapping), offset)
    }

    fn index(&mut self, pid: u32, program: &str, mapping: &Mapping) -> usize {
        let key = (mapping.inode, mapping.path.clone());
        if let Some(&index) = self.indices.get(&key) {
            return index;
        }
        let Mapping { inode, path, .. } = mapping;
        let file = (self.files.len() < FILES_OPEN_MAX)
            .then(|| open_mapped(pid, mapping, path == program))
            .flatten();
        let module = mapping.module().to_owned();
        let index = self.files.len();
        self.files.push(MappedFile { inode: *inode, path: path.clone(), module, file });
        self.indices.insert(key, index);
        index
    }

    /// A file, if it is still there.
    pub fn open(&self, index: usize) -> Option<File> {
        let mapped = self.files.get(index)?;
        match &mapped.file {
            Some(file) => file.try_clone().ok(),
            None => open_path(&mapped.path, mapped.inode),
        }
    }

    /// The functions of a file; none after `until`.
    pub fn symbols(&self, index: usize, until: Instant) -> Option<Arc<FileSymbols>> {
        (Instant::now() < until).then(|| file_symbols(&self.open(index)?)).flatten()
    }

    /// Looks up the functions of these addresses until `until`; those of the kernel only if `with_kernel`.
    pub fn resolve(
        &self,
        addresses: &BTreeSet<CodeAddress>,
        with_kernel: bool,
        until: Instant,
    ) -> BTreeMap<CodeAddress, ResolvedAddress> {
        let is_kernel = |address: &CodeAddress| matches!(address, CodeAddress::Kernel(_));
        let kernel = if with_kernel && addresses.iter().any(is_kernel) {
            kernel_symbols(until)
        } else {
            Arc::default()
        };
        let mut files: HashMap<usize, Option<Arc<FileSymbols>>> = HashMap::new();
        let mut lists: HashMap<u32, ListedSymbols> = HashMap::new();
        let resolved = addresses.iter().map(|address| {
            let resolved = match *address {
                CodeAddress::File(index, offset) => {
                    let symbols = files.entry(index).or_insert_with(|| self.symbols(index, until));
                    self.in_file(index, offset, symbols.as_deref())
                }
                CodeAddress::Kernel(address) => in_kernel(address, &kernel),
                CodeAddress::Vdso(offset) => {
                    let symbol = vdso().and_then(|vdso| vdso.symbols.at(offset));
                    ResolvedAddress::new(FrameKind::Vdso, "[vdso]", symbol, offset)
                }
                CodeAddress::Memory(pid, address) => {
                    let owner = self.owners.get(&pid).copied().flatten();
                    let list = lists.entry(pid).or_insert_with(|| listed(pid, owner));
                    let symbol = list.at(address);
                    ResolvedAddress::new(FrameKind::Jit, "", symbol, 0)
                }
                CodeAddress::Unknown => ResolvedAddress::new(FrameKind::Unknown, "", None, 0),
            };
            (address.clone(), resolved)
        });
        resolved.collect()
    }

    fn in_file(&self, index: usize, offset: u64, symbols: Option<&FileSymbols>) -> ResolvedAddress {
        let mapped = &self.files[index];
        let symbol = symbols.and_then(|symbols| symbols.at(offset));
        let resolved = ResolvedAddress::new(FrameKind::User, &mapped.module, symbol, offset);
        ResolvedAddress { path: Some(mapped.path.clone()), ..resolved }
    }
}

impl ResolvedAddress {
    fn new(kind: FrameKind, module: &str, symbol: Option<Symbol>, offset: u64) -> Self {
        let offset = symbol.as_ref().map_or(offset, |symbol| symbol.offset);
        ResolvedAddress { kind, path: None, module: module.to_owned(), symbol, offset }
    }
}

fn in_kernel(address: u64, kernel: &KernelSymbols) -> ResolvedAddress {
    let (symbol, module) =
        kernel.at(address).map_or((None, None), |(symbol, module)| (Some(symbol), module));
    let (kind, module) = match module {
        None => (FrameKind::Kernel, "kernel"),
        Some("bpf") => (FrameKind::Bpf, "bpf"),
        Some(module) => (FrameKind::KernelModule, module),
    };
    ResolvedAddress::new(kind, module, symbol, 0)
}

/// The user that a process runs as, while it lives.
fn owner(pid: u32) -> Option<u32> {
    fs::metadata(format!("/proc/{pid}")).ok().map(|metadata| metadata.uid())
}

/// What the compiler in a process has listed of its functions, as perf looks for it. In a container it knows another
/// number of its process, and another `/tmp`.
fn listed(pid: u32, owner: Option<u32>) -> ListedSymbols {
    let inner = inner_pid(pid).map(|inner| format!("/proc/{pid}/root/tmp/perf-{inner}.map"));
    let mut paths = inner.into_iter().chain([format!("/tmp/perf-{pid}.map")]);
    paths.find_map(|path| listed_at(&path, owner)).unwrap_or_default()
}

/// The number of a process in its own namespace, while it lives.
fn inner_pid(pid: u32) -> Option<u32> {
    let status = proc::text(pid, "status").ok()?;
    proc::field(&status, "NSpid:")?.split_whitespace().last()?.parse().ok()
}

fn listed_at(path: &str, owner: Option<u32>) -> Option<ListedSymbols> {
    // Opening a pipe would wait, and a link may point anywhere.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    // Anyone may write such a file: only what root, the user or the process's owner wrote is believed.
    let user = rustix::process::geteuid().as_raw();
    let is_trusted = file.metadata().is_ok_and(|metadata| {
        let writer = metadata.uid();
        metadata.is_file() && (writer == 0 || writer == user || Some(writer) == owner)
    });
    let mut bytes = Vec::new();
    if !is_trusted || file.take(LIST_BYTES_MAX).read_to_end(&mut bytes).is_err() {
        return None;
    }
    Some(ListedSymbols::parse(&String::from_utf8_lossy(&bytes)))
}

/// Opens the very file that is mapped: its path may hold another by now.
fn open_mapped(pid: u32, mapping: &Mapping, is_program: bool) -> Option<File> {
    let Mapping { start, end, path, inode, .. } = mapping;
    if let Ok(file) = File::open(format!("/proc/{pid}/map_files/{start:x}-{end:x}")) {
        return Some(file);
    }
    if is_program
        && let Ok(file) = File::open(format!("/proc/{pid}/exe"))
        && file.metadata().is_ok_and(|metadata| metadata.ino() == *inode)
    {
        return Some(file);
    }
    open_path(path, *inode).or_else(|| open_path(&format!("/proc/{pid}/root{path}"), *inode))
}

/// Opens a file, unless its path holds another one by now.
fn open_path(path: &str, inode: u64) -> Option<File> {
    // Opening a device or a pipe could wait, or have an effect.
    let metadata = fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.ino() == inode).then(|| File::open(path).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_list_of_functions_is_believed_by_its_owner() {
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(owner(std::process::id()), Some(own));
        assert_eq!(owner(u32::MAX), None);
        let path = std::env::temp_dir().join(format!("knee-list-{}", std::process::id()));
        let linked = path.with_extension("link");
        fs::write(&path, "1000 10 compiled\n").unwrap();
        std::os::unix::fs::symlink(&path, &linked).unwrap();
        let name = |path: &std::path::Path, owner| {
            let listed = listed_at(&path.display().to_string(), owner)?;
            listed.at(0x1008).map(|symbol| symbol.name)
        };
        assert_eq!(name(&path, None).as_deref(), Some("compiled"));
        assert_eq!(name(&linked, None), None);
        assert_eq!(name(&std::env::temp_dir(), None), None);
        // Only root can give a file away.
        let stranger = own + 4711;
        if std::os::unix::fs::chown(&path, Some(stranger), None).is_ok() {
            assert_eq!(name(&path, Some(stranger)).as_deref(), Some("compiled"));
            assert_eq!(name(&path, Some(stranger + 1)), None);
            assert_eq!(name(&path, None), None);
        }
        for file in [path, linked] {
            fs::remove_file(file).unwrap();
        }
    }

    /// It has a number of its own in its namespace, and a `/tmp` of its own.
    #[test]
    fn the_list_of_a_process_in_a_container_is_read_there() {
        use std::io::{BufRead as _, BufReader};
        use std::process::{Command, Stdio};
        let script = "mount -t tmpfs none /tmp && echo 1000 10 inside > /tmp/perf-$$.map && echo $$; read end";
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--mount", "--mount-proc", "sh", "-c", script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            return println!("SKIPPED: there is no unshare here");
        };
        let mut inner = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut inner).unwrap();
        let id = child.id();
        let outer = proc::children(id).first().copied();
        let seen = outer.map(|outer| {
            let name = listed(outer, owner(outer)).at(0x1008).map(|symbol| symbol.name);
            (inner_pid(outer), name)
        });
        // The shell ends with its input.
        drop(child.stdin.take());
        child.wait().unwrap();
        if inner.is_empty() {
            return println!("SKIPPED: namespaces are not permitted here");
        }
        assert_eq!(inner, "1\n");
        assert_eq!(seen, Some((Some(1), Some("inside".to_owned()))));
    }

    #[test]
    fn a_program_in_memory_is_a_file_and_other_code_in_memory_is_none() {
        let maps = Maps::parse(
            "1000-2000 r-xp 00003000 00:01 77 /memfd:forker (deleted)\n\
             5000-6000 r-xp 00000000 00:01 78 /memfd:jit (deleted)\n",
        );
        let mut files = MappedFiles::default();
        let program = "/memfd:forker (deleted)";
        let mut locate = |program, address| files.locate(u32::MAX, program, &maps, address);
        assert_eq!(locate(program, 0x1010), CodeAddress::File(0, 0x3010));
        assert_eq!(locate(program, 0x5010), CodeAddress::Memory(u32::MAX, 0x5010));
        assert_eq!(locate("", 0x1010), CodeAddress::Memory(u32::MAX, 0x1010));
        assert_eq!(locate(program, 0x3000), CodeAddress::Unknown);
    }

    #[test]
    fn code_made_at_run_time_is_named_by_its_compilers_list() {
        // A number beyond the largest that Linux gives.
        let pid = 0x7fff_1000;
        let list = format!("/tmp/perf-{pid}.map");
        fs::write(&list, "7f0000000100 40 LazyCompile:~add x.js:1\n").unwrap();
        let maps = Maps::parse("7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n");
        let mut files = MappedFiles::default();
        let [listed, unlisted, nowhere] = [0x7f00_0000_0110, 0x7f00_0000_0010, 0x10]
            .map(|address| files.locate(pid, "", &maps, address));
        assert_eq!(nowhere, CodeAddress::Unknown);
        let all = [&listed, &unlisted, &nowhere].map(Clone::clone);
        let until = Instant::now() + Duration::from_secs(60);
        let resolved = files.resolve(&BTreeSet::from(all), false, until);
        fs::remove_file(list).unwrap();
        let name = |address| {
            let resolved: &ResolvedAddress = &resolved[address];
            (resolved.kind, resolved.symbol.as_ref().map(|symbol| symbol.name.as_str()))
        };
        assert_eq!(name(&listed), (FrameKind::Jit, Some("LazyCompile:~add x.js:1")));
        assert_eq!(resolved[&listed].offset, 0x10);
        assert_eq!(name(&unlisted), (FrameKind::Jit, None));
        assert_eq!(name(&nowhere), (FrameKind::Unknown, None));
    }
}
