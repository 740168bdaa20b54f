//! The locks that can be simulated, one row each, and those that can't, with the reason.
//!
//! A row says what tells an algorithm from the others as far as time is concerned: who comes next,
//! how the lock gets from one thread to the next, and whether a thread that waits goes to sleep.

/// A lock, as far as the model goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// The name on the command line: `ticket`.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Who comes next.
    pub order: Discipline,
    /// How the lock gets from one thread to another.
    pub hand_over: HandOver,
    /// Whether a thread that waits goes to sleep.
    pub blocking: Blocking,
}

/// Who gets a lock next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Who came first, whether it runs at that moment or not.
    Fifo,
    /// Whoever runs and looks first.
    Any,
}

/// What it takes until a thread that spins has a lock that is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// All that spin want the same cache line: it goes from one to the other, and half of them have it
    /// before the one that counts.
    Shared,
    /// So many tenths of a cache line's way, however many spin.
    Tenths(u64),
    /// The next in line looks again only each time that it could have had so many looks.
    Paced(u64),
    /// Each that spins stays away between two looks, for up to so many looks.
    Away(u64),
}

/// When a thread that waits goes to sleep, and who wakes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// It never does: it spins until it has the lock.
    Never,
    /// After as many looks as the work says. A release enters the kernel as long as somebody sleeps or
    /// has not yet run since.
    AfterSpins,
    /// After this many looks. A release enters the kernel if the lock was marked as wanted.
    After(u32),
}

const fn spinning(
    name: &'static str,
    order: Discipline,
    hand_over: HandOver,
    summary: &'static str,
) -> Algorithm {
    Algorithm { name, summary, order, hand_over, blocking: Blocking::Never }
}

/// Every lock that can be simulated.
pub static TABLE: &[Algorithm] = &[
    spinning("byte", Discipline::Any, HandOver::Shared, "test and set a byte, again and again"),
    spinning(
        "ttas",
        Discipline::Any,
        HandOver::Away(1 << 10),
        "look until it is free, then test and set; back off in between",
    ),
    spinning(
        "ticket",
        Discipline::Fifo,
        HandOver::Shared,
        "draw a number, and wait until it is called",
    ),
    spinning(
        "ticket-proportional",
        Discipline::Fifo,
        HandOver::Paced(1 << 4),
        "a ticket lock whose waiters look the more seldom the further back they are",
    ),
    spinning(
        "mcs",
        Discipline::Fifo,
        HandOver::Tenths(15),
        "a queue; each waits at a line of its own",
    ),
    spinning(
        "clh",
        Discipline::Fifo,
        HandOver::Tenths(10),
        "a queue; each waits at its predecessor's",
    ),
    spinning(
        "qspinlock",
        Discipline::Fifo,
        HandOver::Tenths(10),
        "a byte, one pending, then a queue",
    ),
    Algorithm {
        name: "byte-block",
        summary: "a byte lock that goes to sleep after some spinning",
        order: Discipline::Any,
        hand_over: HandOver::Shared,
        blocking: Blocking::AfterSpins,
    },
    Algorithm {
        name: "ticket-block",
        summary: "a ticket lock that goes to sleep after some spinning",
        order: Discipline::Fifo,
        hand_over: HandOver::Shared,
        blocking: Blocking::AfterSpins,
    },
    Algorithm {
        name: "futex",
        summary: "sleep at once where it is not free",
        order: Discipline::Any,
        hand_over: HandOver::Shared,
        blocking: Blocking::After(0),
    },
    Algorithm {
        name: "pthread-mutex",
        summary: "the C library's mutex: sleep at once where it is not free",
        order: Discipline::Any,
        hand_over: HandOver::Shared,
        blocking: Blocking::After(0),
    },
    spinning(
        "pthread-spin",
        Discipline::Any,
        HandOver::Shared,
        "the C library's spinlock: look until it is free, then test and set",
    ),
    Algorithm {
        name: "std",
        summary: "Rust's own mutex: look a hundred times, then sleep",
        order: Discipline::Any,
        hand_over: HandOver::Shared,
        blocking: Blocking::After(100),
    },
];

/// Locks that are measured and can't be simulated, with the reason.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("parking_lot", "the model knows neither its yields nor its turns of fairness"),
    ("broken", "it does not lock, so there is nothing to wait for"),
];

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    TABLE.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_row_and_is_either_simulated_or_left_out() {
        for row in TABLE {
            assert_eq!(find(row.name), Some(row), "{}", row.name);
            assert!(LEFT_OUT.iter().all(|(name, _)| *name != row.name), "{}", row.name);
        }
        assert_eq!(find("nonesuch"), None);
    }
}
