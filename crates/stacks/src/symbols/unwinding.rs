//! The callers of a function, by the unwind tables of its file (`.eh_frame`, `.debug_frame`) and a copy of the top of the stack; by
//! frame pointers where there are no tables, as of code that was made at run time.

use crate::symbols::addresses::{CodeAddress, MappedFiles};
use crate::symbols::maps::Maps;
use crate::symbols::tables::vdso;
use crate::symbols::{Bounded, FileSegment, file_segments, linked_address};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};
use object::read::{File as ObjectFile, ReadCache, ReadRef};
use object::{Object, ObjectSection};
use sys::perf::UserState;

/// Callers that are looked for.
const CALLERS_MAX: usize = 256;
/// A section that is larger than this is not read.
const SECTION_BYTES_MAX: u64 = 64 << 20;

/// What has unwind tables of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Tabled {
    /// A file of [`MappedFiles`].
    File(usize),
    Vdso,
    /// Code made at run time has none.
    Memory,
}

/// Unwind tables at the addresses that their file was linked for.
#[derive(Default)]
pub(super) struct UnwindTables {
    unwinder: UnwinderX86_64<Vec<u8>>,
    cache: CacheX86_64,
    segments: Vec<FileSegment>,
}

impl UnwindTables {
    /// Those of an ELF file; empty where it has none.
    fn read<'data>(data: impl ReadRef<'data>) -> UnwindTables {
        let Ok(object) = ObjectFile::parse(Bounded(data)) else { return UnwindTables::default() };
        let mut tables =
            UnwindTables { segments: file_segments(&object), ..UnwindTables::default() };
        let section = |name: &str| {
            let section = object.section_by_name(name).filter(|s| s.size() <= SECTION_BYTES_MAX)?;
            let range = section.address()..section.address().checked_add(section.size())?;
            Some((range, section.uncompressed_data().ok()?.into_owned()))
        };
        let ends = tables.segments.iter().map(|&(_, size, address)| address.saturating_add(size));
        let (eh_frame_svma, eh_frame) = section(".eh_frame").unzip();
        // That of Go programs, which have no other.
        let debug_frame = section(".debug_frame").filter(|_| eh_frame.is_none());
        if let Some(end) = ends.max().filter(|_| eh_frame.is_some() || debug_frame.is_some()) {
            let (eh_frame_hdr_svma, eh_frame_hdr) = section(".eh_frame_hdr").unzip();
            let (text_svma, text) = section(".text").unzip();
            let sections = ExplicitModuleSectionInfo {
                text_svma,
                text,
                eh_frame_svma,
                eh_frame,
                eh_frame_hdr_svma,
                eh_frame_hdr,
                debug_frame: debug_frame.map(|(_, bytes)| bytes),
                ..ExplicitModuleSectionInfo::default()
            };
            tables.unwinder.add_module(Module::new(String::new(), 0..end, 0, sections));
        }
        tables
    }

    /// Where the function returns to whose instruction is at `offset` of the file; then the registers are those of its
    /// caller.
    fn caller(
        &mut self,
        offset: u64,
        is_return: bool,
        registers: &mut UnwindRegsX86_64,
        user: &UserState<'_>,
    ) -> Option<u64> {
        // Nothing is linked for code made at run time.
        let address = linked_address(&self.segments, offset).unwrap_or(offset);
        let address = if is_return {
            // What was looked up is the call before it.
            FrameAddress::from_return_address(address.checked_add(1)?)?
        } else {
            FrameAddress::from_instruction_pointer(address)
        };
        let mut read = |address| user.word(address).ok_or(());
        self.unwinder.unwind_frame(address, registers, &mut self.cache, &mut read).ok().flatten()
    }
}

impl MappedFiles {
    /// The program counter of a thread and where its calls return to, the innermost first, as far as the copied part of
    /// its stack goes.
    pub fn callers(
        &mut self,
        pid: u32,
        program: &str,
        maps: &Maps,
        user: &UserState<'_>,
    ) -> Vec<u64> {
        let UserState { instruction_pointer, stack_pointer, frame_pointer, .. } = *user;
        let mut registers =
            UnwindRegsX86_64::new(instruction_pointer, stack_pointer, frame_pointer);
        let mut addresses = vec![instruction_pointer];
        let mut next = Some(instruction_pointer);
        while let Some(address) = next.filter(|_| addresses.len() < CALLERS_MAX) {
            let is_return = addresses.len() > 1;
            let call = if is_return { address.wrapping_sub(1) } else { address };
            let (tabled, offset) = match self.locate(pid, program, maps, call) {
                CodeAddress::File(index, offset) => (Tabled::File(index), offset),
                CodeAddress::Vdso(offset) => (Tabled::Vdso, offset),
                CodeAddress::Memory(_, address) => (Tabled::Memory, address),
                CodeAddress::Kernel(_) | CodeAddress::Unknown => break,
            };
            next = self.tables(tabled).caller(offset, is_return, &mut registers, user);
            addresses.extend(next);
        }
        addresses
    }

    fn tables(&mut self, tabled: Tabled) -> &mut UnwindTables {
        if !self.tables.contains_key(&tabled) {
            let tables = match tabled {
                Tabled::File(index) => {
                    self.open(index).map(|file| UnwindTables::read(&ReadCache::new(file)))
                }
                Tabled::Vdso => vdso().map(|vdso| UnwindTables::read(&vdso.bytes[..])),
                Tabled::Memory => None,
            };
            self.tables.insert(tabled, tables.unwrap_or_default());
        }
        self.tables.entry(tabled).or_default()
    }
}
