//! The connections of a worker, by number. A number that is used again has another generation.

/// A connection's name in a driver: its position, and how often that was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub position: u32,
    /// 24 bits: a late event belongs to a generation or two before, not to one 16 million ago.
    pub generation: u32,
}

const GENERATIONS: u32 = 1 << 24;

impl Key {
    /// As one number of 56 bits.
    pub(crate) fn number(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.position)
    }

    pub(crate) fn from_number(number: u64) -> Key {
        Key { position: number as u32, generation: (number >> 32) as u32 % GENERATIONS }
    }
}

struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// Values at positions that are used again after a removal.
pub(crate) struct Slab<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) fn new() -> Slab<T> {
        Slab { slots: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(crate) fn insert(&mut self, value: T) -> Key {
        let position = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, value: None });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[position as usize];
        slot.value = Some(value);
        Key { position, generation: slot.generation }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let slot = self.slots.get_mut(key.position as usize)?;
        if slot.generation == key.generation { slot.value.as_mut() } else { None }
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        let slot = self.slots.get_mut(key.position as usize)?;
        if slot.generation != key.generation {
            return None;
        }
        let value = slot.value.take()?;
        slot.generation = (slot.generation + 1) % GENERATIONS;
        self.free.push(key.position);
        Some(value)
    }

    pub(crate) fn keys(&self) -> Vec<Key> {
        let used = self.slots.iter().enumerate().filter(|(_, slot)| slot.value.is_some());
        used.map(|(position, slot)| Key { position: position as u32, generation: slot.generation })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_that_is_used_again_has_another_key() {
        let mut slab = Slab::new();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!((slab.len(), slab.slots.len()), (2, 2));
        assert_eq!(slab.remove(a), Some('a'));
        assert_eq!(slab.remove(a), None);
        let c = slab.insert('c');
        assert_eq!(c.position, a.position);
        assert_eq!(slab.get_mut(a), None);
        assert_eq!(slab.get_mut(c), Some(&mut 'c'));
        assert_eq!(slab.keys(), [c, b]);
        assert_eq!(Key::from_number(c.number()), c);
        assert!(c.number() < 1 << 56);
    }

    #[test]
    fn generations_begin_anew() {
        let mut slab = Slab::new();
        let mut key = slab.insert(0);
        slab.slots[0].generation = GENERATIONS - 1;
        key.generation = GENERATIONS - 1;
        assert_eq!(Key::from_number(key.number()), key);
        slab.remove(key);
        assert_eq!(slab.insert(1).generation, 0);
    }
}
