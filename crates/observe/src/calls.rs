//! The system calls that wait for descriptors, with their numbers and what their arguments say.

use std::ffi::CString;
use std::fmt;

/// A system call that waits for descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// `epoll_wait(2)`
    EpollWait,
    /// `epoll_pwait(2)`
    EpollPwait,
    /// `epoll_pwait2(2)`
    EpollPwait2,
    /// `poll(2)`
    Poll,
    /// `ppoll(2)`
    Ppoll,
    /// `select(2)`
    Select,
    /// `pselect6(2)`, which the C library's `pselect` and, in some, `select` are made of
    Pselect6,
}

impl Call {
    /// The kernel's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Call::EpollWait => "epoll_wait",
            Call::EpollPwait => "epoll_pwait",
            Call::EpollPwait2 => "epoll_pwait2",
            Call::Poll => "poll",
            Call::Ppoll => "ppoll",
            Call::Select => "select",
            Call::Pselect6 => "pselect6",
        }
    }

    /// The call of this number on this machine.
    pub(crate) fn of_number(number: i64) -> Option<Call> {
        numbers().find(|&(own, _)| own == number).map(|(_, call)| call)
    }

    /// Its place among seven.
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Calls that every architecture of 64 bits has.
const EVERYWHERE: [(i64, Call); 4] = [
    (libc::SYS_epoll_pwait, Call::EpollPwait),
    (libc::SYS_epoll_pwait2, Call::EpollPwait2),
    (libc::SYS_ppoll, Call::Ppoll),
    (libc::SYS_pselect6, Call::Pselect6),
];

/// Older calls, which younger architectures were never given.
#[cfg(any(target_arch = "x86_64", target_arch = "powerpc64", target_arch = "s390x"))]
const OLDER: &[(i64, Call)] = &[
    (libc::SYS_epoll_wait, Call::EpollWait),
    (libc::SYS_poll, Call::Poll),
    (libc::SYS_select, Call::Select),
];
#[cfg(not(any(target_arch = "x86_64", target_arch = "powerpc64", target_arch = "s390x")))]
const OLDER: &[(i64, Call)] = &[];

fn numbers() -> impl Iterator<Item = (i64, Call)> {
    OLDER.iter().copied().chain(EVERYWHERE)
}

/// The condition that only waits meet, for the kernel's filter.
pub(crate) fn waits_filter() -> CString {
    filter(numbers().map(|(number, _)| number))
}

/// The condition that waits meet, and the calls that serve a descriptor.
pub(crate) fn waits_and_services_filter() -> CString {
    filter(numbers().map(|(number, _)| number).chain(SERVICES.iter().map(|(number, _)| *number)))
}

fn filter(numbers: impl Iterator<Item = i64>) -> CString {
    let each: Vec<String> = numbers.map(|number| format!("id=={number}")).collect();
    // Digits hold no zero byte.
    CString::new(each.join("||")).unwrap_or_default()
}

/// What an answer of a call that serves descriptors means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Serves {
    /// It moves bytes or messages: 0 is the end of a file.
    Moves,
    /// It does something else, if it does not fail.
    Does,
}

/// The calls that take something from a descriptor or give it something. Their first argument is the
/// descriptor; some name another one.
const SERVICES: &[(i64, Serves)] = &[
    (libc::SYS_read, Serves::Moves),
    (libc::SYS_readv, Serves::Moves),
    (libc::SYS_pread64, Serves::Moves),
    (libc::SYS_preadv, Serves::Moves),
    (libc::SYS_preadv2, Serves::Moves),
    (libc::SYS_recvfrom, Serves::Moves),
    (libc::SYS_recvmsg, Serves::Moves),
    (libc::SYS_recvmmsg, Serves::Moves),
    (libc::SYS_write, Serves::Moves),
    (libc::SYS_writev, Serves::Moves),
    (libc::SYS_pwrite64, Serves::Moves),
    (libc::SYS_pwritev, Serves::Moves),
    (libc::SYS_pwritev2, Serves::Moves),
    (libc::SYS_sendto, Serves::Moves),
    (libc::SYS_sendmsg, Serves::Moves),
    (libc::SYS_sendmmsg, Serves::Moves),
    (libc::SYS_sendfile, Serves::Moves),
    (libc::SYS_splice, Serves::Moves),
    (libc::SYS_tee, Serves::Moves),
    (libc::SYS_vmsplice, Serves::Moves),
    (libc::SYS_copy_file_range, Serves::Moves),
    (libc::SYS_accept, Serves::Does),
    (libc::SYS_accept4, Serves::Does),
    (libc::SYS_ioctl, Serves::Does),
    (libc::SYS_close, Serves::Does),
];

/// A call that serves a descriptor, or tries to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Service {
    pub call: i64,
    pub args: [u64; 6],
}

impl Service {
    /// The call, if it is one that serves descriptors.
    pub fn new(call: i64, args: [u64; 6]) -> Option<Service> {
        let asks_only = call == libc::SYS_ioctl && ASKING.contains(&(args[1] as u32));
        let serves = SERVICES.iter().any(|(number, _)| *number == call);
        (serves && !asks_only).then_some(Service { call, args })
    }

    /// The descriptors that it serves.
    pub fn descriptors(&self) -> impl Iterator<Item = i32> {
        let second = match self.call {
            libc::SYS_sendfile | libc::SYS_tee => Some(1),
            libc::SYS_splice | libc::SYS_copy_file_range => Some(2),
            _ => None,
        };
        let args = self.args;
        std::iter::once(0).chain(second).map(move |index| args[index] as i32)
    }

    /// Whether this answer of it means that something was taken or given.
    pub fn served(&self, answer: i64) -> bool {
        let moves = SERVICES.contains(&(self.call, Serves::Moves));
        answer >= i64::from(moves)
    }
}

/// Requests of `ioctl(2)` that change nothing: `FIONREAD`, `FIONBIO`.
const ASKING: [u32; 2] = [libc::FIONREAD as u32, libc::FIONBIO as u32];

/// What is waited on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// An epoll set, by its descriptor.
    Epoll(i32),
    /// The array or the sets that a thread hands to poll or select.
    Thread(u32, Call),
}

/// A call that a thread is in, or was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entered {
    pub call: Call,
    pub args: [u64; 6],
}

impl Entered {
    /// What it waits on, as done by the thread `tid`.
    pub fn key(&self, tid: u32) -> Key {
        match self.call {
            Call::EpollWait | Call::EpollPwait | Call::EpollPwait2 => {
                Key::Epoll(self.args[0] as i32)
            }
            Call::Poll | Call::Ppoll | Call::Select | Call::Pselect6 => Key::Thread(tid, self.call),
        }
    }

    /// How many descriptors it watches at most, as its arguments say: poll's entries, and for each of select's
    /// sets the highest descriptor plus one. An epoll set's size is no argument.
    pub fn bound(&self) -> Option<u32> {
        match self.call {
            Call::EpollWait | Call::EpollPwait | Call::EpollPwait2 => None,
            Call::Poll | Call::Ppoll => Some(self.args[1] as u32),
            // The kernel refuses what is below zero, and then the call returns nothing.
            Call::Select | Call::Pselect6 => {
                let sets = self.args[1..4].iter().filter(|&&set| set != 0).count() as u32;
                Some(u32::try_from(self.args[0] as i32).ok()?.saturating_mul(sets))
            }
        }
    }

    /// Whether it is only a pause: poll and select of nothing are an old way to sleep.
    pub fn is_pause(&self) -> bool {
        self.bound() == Some(0)
    }

    /// How many events it has room for. poll and select have room for all that they watch.
    pub fn capacity(&self) -> Option<u64> {
        self.bound().is_none().then(|| u64::try_from(self.args[2] as i32).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_found_again() {
        let all: Vec<(i64, Call)> = numbers().collect();
        for (number, call) in &all {
            assert_eq!(Call::of_number(*number), Some(*call));
            assert_eq!(all.iter().filter(|(twin, _)| twin == number).count(), 1);
        }
        assert_eq!(Call::of_number(-1), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn numbers_are_those_of_the_kernels_table() {
        assert_eq!(
            waits_filter().to_str(),
            Ok("id==232||id==7||id==23||id==281||id==441||id==271||id==270")
        );
    }

    #[test]
    fn a_descriptor_is_served_by_what_moves_something() {
        let service = |call, args| Service::new(call, args).unwrap();
        let read = service(libc::SYS_read, [7, 0, 64, 0, 0, 0]);
        assert_eq!(read.descriptors().collect::<Vec<_>>(), [7]);
        assert!(read.served(1) && !read.served(0) && !read.served(-11));
        let accept = service(libc::SYS_accept4, [3, 0, 0, 0, 0, 0]);
        assert!(accept.served(0) && !accept.served(-24));
        let sendfile = service(libc::SYS_sendfile, [5, 6, 0, 0, 0, 0]);
        assert_eq!(sendfile.descriptors().collect::<Vec<_>>(), [5, 6]);
        let asked = [7, u64::from(ASKING[0]), 0, 0, 0, 0];
        assert_eq!(Service::new(libc::SYS_ioctl, asked), None);
        assert_eq!(Service::new(libc::SYS_epoll_wait, [7, 0, 0, 0, 0, 0]), None);
        assert!(waits_and_services_filter().as_bytes().len() < 4096, "the kernel takes a page");
    }

    #[test]
    fn arguments_say_what_is_waited_on() {
        let epoll = Entered { call: Call::EpollWait, args: [7, 0x7000, 512, u64::MAX, 0, 0] };
        assert_eq!(
            (epoll.key(9), epoll.bound(), epoll.capacity()),
            (Key::Epoll(7), None, Some(512))
        );
        let poll = Entered { call: Call::Poll, args: [0x7000, 300, 10, 0, 0, 0] };
        assert_eq!(
            (poll.key(9), poll.bound(), poll.capacity()),
            (Key::Thread(9, Call::Poll), Some(300), None)
        );
        assert!(!poll.is_pause() && !epoll.is_pause());
        assert!(Entered { call: Call::Poll, args: [0, 0, 10, 0, 0, 0] }.is_pause());
        // The upper half of the register holds what it likes.
        let select = Entered { call: Call::Select, args: [0xdead_0000_0000 + 65, 8, 0, 8, 0, 0] };
        assert_eq!(select.bound(), Some(130), "of two sets");
        let wrong = Entered { call: Call::Select, args: [u64::MAX, 0, 0, 0, 0, 0] };
        assert_eq!(wrong.bound(), None);
    }
}
