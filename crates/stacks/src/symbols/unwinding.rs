//! The callers of code without frame pointers, by the unwind tables of its files (`.eh_frame`).
//!
//! A copy of the top of the stack is enough to leave a C library. From there on the frame pointers of the program go on,
//! where it has them.

use crate::symbols::addresses::{CodeAddress, MappedFiles};
use crate::symbols::maps::Maps;
use crate::symbols::{Bounded, FileSegment, file_segments, linked_address};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};
use object::read::{File as ObjectFile, ReadCache};
use object::{Object, ObjectSection};
use std::fs::File;
use sys::perf::UserState;

/// Callers that are looked for: so many fit into the copied part of the stack.
const CALLERS_MAX: usize = 64;
/// A section that is larger than this is not read.
const SECTION_BYTES_MAX: u64 = 64 << 20;

/// The unwind tables of one file, at the addresses that it was linked for.
pub(crate) struct UnwindTables {
    unwinder: UnwinderX86_64<Vec<u8>>,
    cache: CacheX86_64,
    segments: Vec<FileSegment>,
}

impl UnwindTables {
    /// Those of a file; none where it has none.
    pub fn read(file: &File) -> Option<UnwindTables> {
        let data = ReadCache::new(file.try_clone().ok()?);
        let object = ObjectFile::parse(Bounded(&data)).ok()?;
        let section = |name: &str| {
            let section = object.section_by_name(name).filter(|s| s.size() <= SECTION_BYTES_MAX)?;
            let range = section.address()..section.address().checked_add(section.size())?;
            Some((range, section.data().ok()?.to_vec()))
        };
        let (eh_frame_svma, eh_frame) = section(".eh_frame")?;
        let (header_svma, header) = section(".eh_frame_hdr").unzip();
        let (text_svma, text) = section(".text").unzip();
        let segments = file_segments(&object);
        let end = segments.iter().map(|&(_, size, address)| address.saturating_add(size)).max()?;
        let sections = ExplicitModuleSectionInfo {
            text_svma,
            text,
            eh_frame_svma: Some(eh_frame_svma),
            eh_frame: Some(eh_frame),
            eh_frame_hdr_svma: header_svma,
            eh_frame_hdr: header,
            ..ExplicitModuleSectionInfo::default()
        };
        let mut unwinder = UnwinderX86_64::new();
        unwinder.add_module(Module::new(String::new(), 0..end, 0, sections));
        Some(UnwindTables { unwinder, cache: CacheX86_64::new(), segments })
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
        let address = linked_address(&self.segments, offset)?;
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
            next = match self.locate(pid, program, maps, call) {
                CodeAddress::File(index, offset) => {
                    let tables = self.unwind_tables(index);
                    tables.and_then(|t| t.caller(offset, is_return, &mut registers, user))
                }
                _ => None,
            };
            addresses.extend(next);
        }
        addresses
    }

    fn unwind_tables(&mut self, index: usize) -> Option<&mut UnwindTables> {
        if !self.tables.contains_key(&index) {
            let tables = self.open(index).and_then(|file| UnwindTables::read(&file));
            self.tables.insert(index, tables);
        }
        self.tables.get_mut(&index)?.as_mut()
    }
}
