//! What will happen, in order of time; what happens at the same time is in the order of its planning.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that will happen, unless what it is about has changed by then: its stamp tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// What a thread does on its CPU comes to its end.
    Done { thread: u32, stamp: u32 },
    /// The slice of the thread on a CPU is over.
    Slice { cpu: u32, stamp: u32 },
    /// One of those that spin has a lock that was released.
    Passed { stamp: u32 },
    /// The lengths of the CPUs' queues are compared.
    Balance,
}

/// The queue of events.
#[derive(Debug, Default)]
pub struct Events {
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    planned: u64,
}

impl Events {
    /// Plans `event` for the time `at_ns`.
    pub fn plan(&mut self, at_ns: u64, event: Event) {
        self.planned += 1;
        self.heap.push(Reverse((at_ns, self.planned, event)));
    }

    /// The next event before `end_ns`, and when it is.
    pub fn next_before(&mut self, end_ns: u64) -> Option<(u64, Event)> {
        let Reverse((at_ns, _, _)) = self.heap.peek()?;
        if *at_ns >= end_ns {
            return None;
        }
        self.heap.pop().map(|Reverse((at_ns, _, event))| (at_ns, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_of_time_and_then_of_planning() {
        let mut events = Events::default();
        let slice = |cpu| Event::Slice { cpu, stamp: 0 };
        for (at_ns, cpu) in [(5, 9), (3, 2), (5, 1), (3, 7)] {
            events.plan(at_ns, slice(cpu));
        }
        let mut order = Vec::new();
        while let Some((at_ns, event)) = events.next_before(6) {
            order.push((at_ns, event));
        }
        assert_eq!(order, [(3, slice(2)), (3, slice(7)), (5, slice(9)), (5, slice(1))]);
        events.plan(6, slice(0));
        assert_eq!(events.next_before(6), None);
    }
}
