//! One function of a generated file, as C and as what it does.

use fastrand::Rng;
use std::fmt::{self, Display, Formatter};

/// What a function does to the number that it gets. In C unsigned numbers wrap, as they do here.
#[derive(Debug)]
pub(super) enum Step {
    /// A loop that multiplies, adds and shifts.
    Loop { turns: u32, factor: u32, add: u32, shift: u32 },
    /// A switch over the remainder.
    Switch(Vec<Arm>),
    /// A walk through a table of structs.
    Walk { table: Vec<(u32, u32)>, mask: u32 },
    /// Structs that are filled in, sorted and summed up.
    Sort { count: u32, factor: u32, add: u32 },
}

/// What one case of a switch does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arm {
    Add(u32),
    Xor(u32),
    Multiply(u32),
    Rotate(u32),
}

impl Step {
    pub(super) fn drawn(random: &mut Rng) -> Step {
        let (factor, add) = (random.u32(..) | 1, random.u32(..));
        match random.u32(0..4) {
            0 => Step::Loop { turns: random.u32(8..40), factor, add, shift: random.u32(1..16) },
            1 => Step::Switch((0..random.usize(8..20)).map(|_| Arm::drawn(random)).collect()),
            2 => Step::Walk {
                table: (0..random.usize(8..24)).map(|_| (random.u32(..), random.u32(..))).collect(),
                mask: random.u32(..),
            },
            _ => Step::Sort { count: random.u32(8..32), factor, add },
        }
    }

    /// What the function returns for `s`.
    pub(super) fn apply(&self, s: u32) -> u32 {
        match self {
            Step::Loop { turns, factor, add, shift } => (0..*turns).fold(s, |s, _| {
                let s = s.wrapping_mul(*factor).wrapping_add(*add);
                s ^ s >> shift
            }),
            Step::Switch(arms) => arms[s as usize % arms.len()].apply(s),
            Step::Walk { table, mask } => table.iter().fold(s, |s, (key, weight)| {
                if (key ^ s) & mask != 0 { s.wrapping_add(*weight) } else { s ^ key }
            }),
            Step::Sort { count, factor, add } => sorted(s, *count, *factor, *add),
        }
    }
}

impl Arm {
    fn drawn(random: &mut Rng) -> Arm {
        match random.u32(0..4) {
            0 => Arm::Add(random.u32(..)),
            1 => Arm::Xor(random.u32(..)),
            2 => Arm::Multiply(random.u32(..) | 1),
            _ => Arm::Rotate(random.u32(1..32)),
        }
    }

    fn apply(self, s: u32) -> u32 {
        match self {
            Arm::Add(number) => s.wrapping_add(number),
            Arm::Xor(number) => s ^ number,
            Arm::Multiply(number) => s.wrapping_mul(number),
            Arm::Rotate(by) => s.rotate_left(by),
        }
    }
}

fn sorted(s: u32, count: u32, factor: u32, add: u32) -> u32 {
    let mut last = s;
    let mut keys: Vec<u32> = (0..count)
        .map(|_| {
            last = last.wrapping_mul(factor).wrapping_add(add);
            last
        })
        .collect();
    keys.sort_unstable();
    keys.iter().fold(last, |s, key| (s ^ key).rotate_left(3).wrapping_add(key >> 16))
}

impl Display for Step {
    /// The body of the function.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Step::Loop { turns, factor, add, shift } => {
                writeln!(f, "    for (unsigned turn = 0; turn < {turns}; turn++) {{")?;
                writeln!(
                    f,
                    "        s = s * {factor}u + {add}u;\n        s ^= s >> {shift};\n    }}"
                )?;
            }
            Step::Switch(arms) => {
                writeln!(f, "    switch (s % {}u) {{", arms.len())?;
                for (index, arm) in arms.iter().enumerate() {
                    writeln!(f, "    case {index}:\n        {arm}\n        break;")?;
                }
                writeln!(f, "    }}")?;
            }
            Step::Walk { table, mask } => {
                writeln!(f, "    static const struct entry table[] = {{")?;
                for (key, weight) in table {
                    writeln!(f, "        {{ {key}u, {weight}u }},")?;
                }
                writeln!(f, "    }};\n    for (unsigned i = 0; i < COUNT(table); i++) {{")?;
                writeln!(f, "        if ((table[i].key ^ s) & {mask}u)")?;
                writeln!(f, "            s += table[i].weight;\n        else")?;
                writeln!(f, "            s ^= table[i].key;\n    }}")?;
            }
            Step::Sort { count, factor, add } => sort(f, *count, *factor, *add)?,
        }
        writeln!(f, "    return s;")
    }
}

/// An insertion sort. Entries of one key are alike, so any other gives the same.
fn sort(f: &mut Formatter<'_>, count: u32, factor: u32, add: u32) -> fmt::Result {
    writeln!(f, "    struct entry list[{count}];")?;
    writeln!(f, "    for (unsigned i = 0; i < COUNT(list); i++) {{")?;
    writeln!(f, "        s = s * {factor}u + {add}u;")?;
    writeln!(f, "        list[i].key = s;\n        list[i].weight = s >> 16;\n    }}")?;
    writeln!(f, "    for (unsigned i = 1; i < COUNT(list); i++) {{")?;
    writeln!(f, "        struct entry moved = list[i];\n        unsigned j = i;")?;
    writeln!(f, "        for (; j > 0 && list[j - 1].key > moved.key; j--)")?;
    writeln!(f, "            list[j] = list[j - 1];\n        list[j] = moved;\n    }}")?;
    writeln!(f, "    for (unsigned i = 0; i < COUNT(list); i++)")?;
    writeln!(f, "        s = rotated(s ^ list[i].key, 3) + list[i].weight;")
}

impl Display for Arm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Arm::Add(number) => write!(f, "s += {number}u;"),
            Arm::Xor(number) => write!(f, "s ^= {number}u;"),
            Arm::Multiply(number) => write!(f, "s *= {number}u;"),
            Arm::Rotate(by) => write!(f, "s = rotated(s, {by});"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_do_what_is_written_in_them() {
        let turned = Step::Loop { turns: 1, factor: 3, add: 1, shift: 1 };
        assert_eq!(turned.apply(1), 4 ^ 2);
        assert!(turned.to_string().contains("s = s * 3u + 1u;"));
        let switch = Step::Switch(vec![Arm::Add(10), Arm::Xor(1), Arm::Rotate(31)]);
        assert_eq!([3, 4, 5].map(|s| switch.apply(s)), [13, 5, 0x8000_0002]);
        let walk = Step::Walk { table: vec![(1, 7), (2, 9)], mask: 1 };
        assert_eq!(walk.apply(0), 16);
        assert_eq!(walk.apply(1), 2);
        // 5 and 6 come of it, in that order: 6 ^ 5 is 3, times 8 is 24; 24 ^ 6 is 30, times 8.
        assert_eq!(sorted(4, 2, 1, 1), 240);
    }
}
