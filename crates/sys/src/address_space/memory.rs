//! Memory of a process on pages of a known size, and chains of dependent loads through it.

use crate::answer::done;
use crate::map::{Behind, Map, page_bytes};
use std::fs::read_to_string;
use std::io;
use std::ptr::NonNull;

/// What is behind memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Pages of the machine's own size, whatever is set for all processes.
    Small,
    /// Transparent huge pages, where the kernel has some to give. See [`Memory::huge_bytes`].
    Huge,
}

/// The size of a transparent huge page, in bytes; none where the kernel has no such pages.
pub fn huge_page_bytes() -> Option<usize> {
    let text = read_to_string("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").ok()?;
    text.trim().parse().ok().filter(|bytes: &usize| bytes.is_power_of_two())
}

/// Memory of this process alone, zeros at first, which begins where a huge page may. The kernel puts pages
/// there when they are touched.
#[derive(Debug)]
pub struct Memory {
    map: Map,
    /// Where in the map it begins.
    from: usize,
    bytes: usize,
    /// The same in whole pages of its kind.
    whole_bytes: usize,
}

impl Memory {
    /// `bytes` of memory on `pages`, not touched yet.
    ///
    /// # Errors
    /// As mmap(2) and madvise(2): `EINVAL` where the kernel has no transparent huge pages, or where `bytes` is
    /// zero; `ENOMEM` without memory or addresses.
    pub fn new(bytes: usize, pages: Pages) -> io::Result<Memory> {
        let huge = huge_page_bytes();
        let align = huge.unwrap_or_else(page_bytes);
        let no_such = || io::Error::from_raw_os_error(libc::EINVAL);
        if bytes == 0 || (pages == Pages::Huge && huge.is_none()) {
            return Err(no_such());
        }
        let unit = if pages == Pages::Huge { align } else { page_bytes() };
        let whole_bytes = bytes.checked_next_multiple_of(unit).ok_or_else(no_such)?;
        let map = Map::new(Behind::Memory, whole_bytes.checked_add(align).ok_or_else(no_such)?)?;
        let from = map.as_ptr().align_offset(align);
        let memory = Memory { map, from, bytes, whole_bytes };
        if huge.is_some() {
            memory.advise(pages)?;
        }
        Ok(memory)
    }

    fn advise(&self, pages: Pages) -> io::Result<()> {
        let advice = match pages {
            Pages::Small => libc::MADV_NOHUGEPAGE,
            Pages::Huge => libc::MADV_HUGEPAGE,
        };
        // SAFETY: the range is within the map of this value; the advice changes no byte of it.
        done(unsafe { libc::madvise(self.start().cast(), self.whole_bytes, advice) })
    }

    fn start(&self) -> *mut u8 {
        self.map.as_ptr().wrapping_add(self.from)
    }

    /// Its words.
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: the range is within the map, which is private memory, zeros at first, aligned to a page, and
        // nothing but this value refers to it.
        unsafe { std::slice::from_raw_parts_mut(self.start().cast(), self.bytes / 8) }
    }

    /// How much of it is on transparent huge pages now (`AnonHugePages` in `/proc/self/smaps`), and how much it
    /// takes in whole huge pages.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn huge_bytes(&self) -> io::Result<(usize, usize)> {
        let start = self.start().addr();
        let huge = huge_in(&read_to_string("/proc/self/smaps")?, start..start + self.whole_bytes);
        Ok((huge.min(self.whole_bytes), self.whole_bytes))
    }
}

/// The bytes on huge pages in maps that overlap `range`, according to the text of `/proc/self/smaps`.
fn huge_in(smaps: &str, range: std::ops::Range<usize>) -> usize {
    let (mut overlaps, mut bytes) = (false, 0);
    for line in smaps.lines() {
        if let Some(kib) = line.strip_prefix("AnonHugePages:") {
            let kib: usize = kib.trim().trim_end_matches(" kB").parse().unwrap_or(0);
            bytes += if overlaps { kib << 10 } else { 0 };
        } else if let Some((start, end)) = addresses(line) {
            overlaps = start < range.end && range.start < end;
        }
    }
    bytes
}

/// The addresses of a map, if that is its first line: `7f00-7f80 rw-p …`.
fn addresses(line: &str) -> Option<(usize, usize)> {
    let (start, end) = line.split(' ').next()?.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

/// A place in memory that says where the next one is.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Link(NonNull<Link>);

/// Places in memory, each of which holds the address of the next, in a circle: the address of a load is known only
/// when the one before has come.
#[derive(Debug)]
pub struct Chain {
    memory: Memory,
    at: NonNull<Link>,
}

// SAFETY: the links are in memory that belongs to this value alone.
unsafe impl Send for Chain {}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Chain {
    /// A chain through `memory`, with a link at each of these offsets, in bytes, in this order; the last one leads
    /// to the first one, where it begins. Links are written in that order too: what is written first is what a
    /// cache holds least of.
    ///
    /// # Errors
    /// `EINVAL` where there is no offset, or where one is not of a word within the memory.
    pub fn new(memory: Memory, offsets: impl IntoIterator<Item = usize>) -> io::Result<Chain> {
        let wrong = || io::Error::from_raw_os_error(libc::EINVAL);
        #[expect(clippy::cast_ptr_alignment, reason = "memory begins at a page")]
        let start = memory.start().cast::<Link>();
        let words = memory.bytes / 8;
        let link = |offset: usize| {
            let within = offset.is_multiple_of(8) && offset / 8 < words;
            let at = start.wrapping_add(offset / 8);
            if within { NonNull::new(at) } else { None }.ok_or_else(wrong)
        };
        let mut offsets = offsets.into_iter();
        let first = link(offsets.next().ok_or_else(wrong)?)?;
        let mut last = first;
        for offset in offsets {
            let next = link(offset)?;
            // SAFETY: `link` made it of a word within the memory, which belongs to this value alone.
            unsafe { last.write(Link(next)) };
            last = next;
        }
        // SAFETY: as above.
        unsafe { last.write(Link(first)) };
        Ok(Chain { memory, at: first })
    }

    /// Goes on by so many loads, each from where the one before says.
    #[inline(never)]
    pub fn walk(&mut self, loads: u64) {
        let mut at = self.at;
        for _ in 0..loads / 16 {
            // Sixteen in a row, as lat_mem_rd has them in longer rows: the loop costs a fraction of a load.
            at = next(next(next(next(at))));
            at = next(next(next(next(at))));
            at = next(next(next(next(at))));
            at = next(next(next(next(at))));
        }
        for _ in 0..loads % 16 {
            at = next(at);
        }
        self.at = at;
    }

    /// Where it is, in bytes from the beginning of its memory.
    pub fn offset(&self) -> usize {
        self.at.addr().get() - self.memory.start().addr()
    }

    /// Its memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}

/// The link after this one.
#[inline]
fn next(at: NonNull<Link>) -> NonNull<Link> {
    // SAFETY: this function is private to chains, which begin at a link that `Chain::new` wrote, and every link that
    // it wrote holds the address of another one in the same memory.
    unsafe { at.read() }.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_goes_round_in_its_order() {
        let memory = Memory::new(4096, Pages::Small).unwrap();
        let order = [64, 0, 4088, 2048];
        let mut chain = Chain::new(memory, order).unwrap();
        let mut seen = Vec::new();
        for _ in 0..6 {
            seen.push(chain.offset());
            chain.walk(1);
        }
        assert_eq!(seen, [64, 0, 4088, 2048, 64, 0]);
        chain.walk(4 * 1_000 + 35);
        assert_eq!(chain.offset(), order[(6 + 4_035) % 4]);
    }

    #[test]
    fn a_chain_stays_within_its_memory() {
        for offsets in [&[][..], &[4096], &[0, 4], &[0, 8, usize::MAX - 7]] {
            let memory = Memory::new(4096, Pages::Small).unwrap();
            let error = Chain::new(memory, offsets.iter().copied()).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EINVAL), "{offsets:?}");
        }
    }

    #[test]
    fn small_pages_are_never_huge() {
        let mut memory = Memory::new(4 << 20, Pages::Small).unwrap();
        memory.words().fill(1);
        assert_eq!(memory.huge_bytes().unwrap(), (0, 4 << 20));
        assert!(Memory::new(0, Pages::Small).is_err());
    }

    #[test]
    fn huge_pages_are_counted_where_the_kernel_gives_them() {
        let Some(huge) = huge_page_bytes() else { return };
        let setting = read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap();
        let mut memory = Memory::new(huge + 8, Pages::Huge).unwrap();
        assert_eq!(memory.huge_bytes().unwrap(), (0, 2 * huge), "not touched yet");
        assert_eq!(memory.words().len(), huge / 8 + 1);
        memory.words().fill(1);
        let (got, whole) = memory.huge_bytes().unwrap();
        assert!(got.is_multiple_of(huge) && got <= whole);
        if setting.contains("[never]") {
            assert_eq!(got, 0);
        }
    }

    #[test]
    fn huge_pages_of_other_maps_are_not_counted() {
        let smaps = "1000-3000 rw-p 00000000 00:00 0 \nSize: 8 kB\nAnonHugePages:      2 kB\n\
                     3000-5000 rw-p 00000000 00:00 0 [heap]\nAnonHugePages:      4 kB\n";
        assert_eq!(huge_in(smaps, 0x1000..0x3000), 2 << 10);
        assert_eq!(huge_in(smaps, 0x2fff..0x3001), 6 << 10);
        assert_eq!(huge_in(smaps, 0x5000..0x6000), 0);
    }
}
