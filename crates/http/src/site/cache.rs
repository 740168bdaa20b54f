//! Small files that are kept, so that asking for them again costs no system call.
//!
//! What is kept is bounded in bytes, names and bookkeeping included. Where there is no room, a hand goes
//! round: it drops the first entry without a request since it last came by.

use std::collections::HashMap;

/// Bytes that an entry costs besides its content: the slot, its index entry, the facts of the file.
const BOOKKEEPING_BYTES: usize = 512;

#[derive(Debug)]
pub(crate) struct Cache<T> {
    slots: Vec<Slot<T>>,
    index: HashMap<Box<[u8]>, usize>,
    bytes: usize,
    limit_bytes: usize,
    hand: usize,
}

#[derive(Debug)]
struct Slot<T> {
    path: Box<[u8]>,
    entry: T,
    bytes: usize,
    was_used: bool,
}

impl<T> Cache<T> {
    pub(crate) fn new(limit_bytes: usize) -> Cache<T> {
        Cache { slots: Vec::new(), index: HashMap::new(), bytes: 0, limit_bytes, hand: 0 }
    }

    /// Whether an entry of so many bytes can be kept at all.
    pub(crate) fn takes(&self, path: &[u8], bytes: usize) -> bool {
        cost(path, bytes) <= self.limit_bytes
    }

    pub(crate) fn get(&mut self, path: &[u8]) -> Option<&mut T> {
        let slot = &mut self.slots[*self.index.get(path)?];
        slot.was_used = true;
        Some(&mut slot.entry)
    }

    /// Keeps an entry of so many bytes in the place of what was kept for the path, as long as it
    /// [`takes`](Cache::takes) it.
    pub(crate) fn put(&mut self, path: &[u8], entry: T, bytes: usize) {
        self.remove(path);
        let bytes = cost(path, bytes);
        if bytes > self.limit_bytes {
            return;
        }
        while self.bytes > self.limit_bytes - bytes && self.drop_one() {}
        self.bytes += bytes;
        self.index.insert(path.into(), self.slots.len());
        self.slots.push(Slot { path: path.into(), entry, bytes, was_used: false });
    }

    pub(crate) fn remove(&mut self, path: &[u8]) {
        if let Some(at) = self.index.get(path) {
            self.take_out(*at);
        }
    }

    /// False where there is none.
    fn drop_one(&mut self) -> bool {
        while !self.slots.is_empty() {
            self.hand %= self.slots.len();
            let slot = &mut self.slots[self.hand];
            if !slot.was_used {
                self.take_out(self.hand);
                return true;
            }
            slot.was_used = false;
            self.hand += 1;
        }
        false
    }

    /// The last slot takes the place of the one that goes.
    fn take_out(&mut self, at: usize) {
        let gone = self.slots.swap_remove(at);
        self.bytes -= gone.bytes;
        self.index.remove(&gone.path);
        if let Some(moved) = self.slots.get(at)
            && let Some(slot) = self.index.get_mut(&moved.path)
        {
            *slot = at;
        }
    }
}

fn cost(path: &[u8], bytes: usize) -> usize {
    bytes.saturating_add(2 * path.len() + BOOKKEEPING_BYTES)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// Room for three entries of 100 bytes under paths of two.
    fn of_three() -> Cache<u32> {
        Cache::new(3 * cost(b"/a", 100))
    }

    #[test]
    fn unused_entries_are_evicted() {
        let mut cache = of_three();
        for (path, entry) in [(b"/a", 1), (b"/b", 2), (b"/c", 3)] {
            cache.put(path, entry, 100);
        }
        assert_eq!(cache.get(b"/a"), Some(&mut 1));
        assert_eq!(cache.get(b"/c"), Some(&mut 3));
        cache.put(b"/d", 4, 100);
        assert_eq!(cache.get(b"/b"), None);
        for (path, entry) in [(b"/a", 1), (b"/c", 3), (b"/d", 4)] {
            assert_eq!(cache.get(path), Some(&mut { entry }));
        }
    }

    #[test]
    fn where_all_are_asked_for_one_goes_nevertheless() {
        let mut cache = of_three();
        for (path, entry) in [(b"/a", 1), (b"/b", 2), (b"/c", 3)] {
            cache.put(path, entry, 100);
            cache.get(path);
        }
        cache.put(b"/d", 4, 100);
        assert_eq!(cache.get(b"/d"), Some(&mut 4));
        assert_eq!(cache.slots.len(), 3);
    }

    #[test]
    fn a_file_larger_than_the_capacity_is_not_kept() {
        let mut cache = of_three();
        cache.put(b"/a", 1, 100);
        assert!(!cache.takes(b"/b", 3000) && cache.takes(b"/b", 1000));
        assert!(!Cache::<u32>::new(0).takes(b"/b", 0));
        cache.put(b"/a", 2, usize::MAX);
        assert_eq!(cache.get(b"/a"), None);
        assert_eq!(cache.bytes, 0);
    }

    proptest! {
        #[test]
        fn the_capacity_is_never_exceeded_and_what_is_got_is_what_was_put(
            limit in 0_usize..5000,
            steps in prop::collection::vec((0..3, 0..12_u8, 0..2000_usize), 0..200),
        ) {
            let mut cache = Cache::new(limit);
            let mut put = HashMap::new();
            for (number, (step, path, bytes)) in steps.into_iter().enumerate() {
                let path = [b'/', path];
                match step {
                    0 => {
                        cache.put(&path, number, bytes);
                        put.insert(path, number);
                        // The newest is there, as long as it fits at all.
                        prop_assert_eq!(cache.get(&path).is_some(), cache.takes(&path, bytes));
                    }
                    1 => if let Some(entry) = cache.get(&path) {
                        prop_assert_eq!(Some(&*entry), put.get(&path));
                    },
                    _ => {
                        cache.remove(&path);
                        prop_assert_eq!(cache.get(&path), None);
                    }
                }
                let sum: usize = cache.slots.iter().map(|slot| slot.bytes).sum();
                prop_assert!(sum == cache.bytes && sum <= limit);
                prop_assert_eq!(cache.index.len(), cache.slots.len());
                for (at, slot) in cache.slots.iter().enumerate() {
                    prop_assert_eq!(cache.index.get(&slot.path), Some(&at));
                }
            }
        }
    }
}
