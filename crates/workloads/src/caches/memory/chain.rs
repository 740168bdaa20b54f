//! The orders in which a chain visits the cache lines of a working set.

use fastrand::Rng;

/// The size of a cache line on every machine that knee runs on today; where it is twice that, two links share one.
pub(super) const LINE_BYTES: usize = 64;
/// The page that the TLB has an entry for, unless it is a huge one.
const PAGE_BYTES: usize = 4096;
const LINES_PER_PAGE: usize = PAGE_BYTES / LINE_BYTES;

/// An order of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChainOrder {
    /// All lines in one random order.
    Random,
    /// All lines: random within a page, then the next page, in a random order of pages.
    PageAfterPage,
    /// One line of each page, in a random order of pages. Which line it is differs from page to page: at the same
    /// place in each, they would all compete for the same sets of a cache.
    OnePerPage,
    /// From the first to the last with this distance in bytes.
    Stride(usize),
}

impl ChainOrder {
    /// Bytes of a set for each byte that it takes in a cache. With a stride a set takes its whole size, though it has
    /// fewer lines: they compete for as many fewer of the cache's sets.
    pub fn spread(self) -> u64 {
        match self {
            ChainOrder::OnePerPage => LINES_PER_PAGE as u64,
            ChainOrder::Random | ChainOrder::PageAfterPage | ChainOrder::Stride(_) => 1,
        }
    }

    /// The lines of a set of `bytes`, each once: a link stands at the beginning of each.
    pub fn lines(self, bytes: usize, seed: u64) -> Vec<u32> {
        let mut random = Rng::with_seed(seed);
        let count = bytes / LINE_BYTES;
        match self {
            ChainOrder::Random => shuffled(count, &mut random),
            ChainOrder::PageAfterPage => {
                let pages = shuffled(bytes.div_ceil(PAGE_BYTES), &mut random);
                let lines = |page: u32| {
                    let first = page as usize * LINES_PER_PAGE;
                    let lines = shuffled(LINES_PER_PAGE.min(count - first), &mut random);
                    lines.into_iter().map(move |line| first as u32 + line)
                };
                pages.into_iter().flat_map(lines).collect()
            }
            ChainOrder::OnePerPage => {
                let lines = shuffled(bytes / PAGE_BYTES, &mut random).into_iter();
                lines
                    .map(|page| page * LINES_PER_PAGE as u32 + page % LINES_PER_PAGE as u32)
                    .collect()
            }
            ChainOrder::Stride(stride) => {
                let step = stride / LINE_BYTES;
                (0..count).step_by(step.max(1)).map(|line| line as u32).collect()
            }
        }
    }
}

fn shuffled(count: usize, random: &mut Rng) -> Vec<u32> {
    let mut all: Vec<u32> = (0..count as u32).collect();
    random.shuffle(&mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn lines(order: ChainOrder, kib: usize) -> Vec<u32> {
        order.lines(kib << 10, 7)
    }

    #[test]
    fn an_order_has_each_line_once() {
        for order in [ChainOrder::Random, ChainOrder::PageAfterPage, ChainOrder::Stride(64)] {
            let lines = lines(order, 70);
            let distinct: BTreeSet<u32> = lines.iter().copied().collect();
            assert_eq!((lines.len(), distinct.len()), (70 * 16, 70 * 16), "{order:?}");
            assert_eq!(distinct.last(), Some(&(70 * 16 - 1)), "{order:?}");
        }
    }

    #[test]
    fn a_page_comes_after_another() {
        let lines = lines(ChainOrder::PageAfterPage, 64);
        let pages: Vec<u32> = lines.chunks(64).map(|page| page[0] / 64).collect();
        assert!(
            lines.chunks(64).zip(&pages).all(|(all, page)| all.iter().all(|l| l / 64 == *page))
        );
        assert!(!pages.is_sorted() && !lines[..64].is_sorted(), "{lines:?}");
    }

    #[test]
    fn one_line_of_a_page_is_not_at_the_same_place_in_each() {
        let lines = lines(ChainOrder::OnePerPage, 1024);
        let pages: BTreeSet<u32> = lines.iter().map(|line| line / 64).collect();
        let positions: BTreeSet<u32> = lines.iter().map(|line| line % 64).collect();
        assert_eq!((lines.len(), pages.len(), positions.len()), (256, 256, 64));
    }

    #[test]
    fn a_stride_goes_from_the_first_to_the_last() {
        assert_eq!(lines(ChainOrder::Stride(128), 1), [0, 2, 4, 6, 8, 10, 12, 14]);
        assert_eq!(lines(ChainOrder::Stride(4096), 8), [0, 64]);
        assert_eq!(lines(ChainOrder::Stride(4096), 4), [0]);
    }
}
