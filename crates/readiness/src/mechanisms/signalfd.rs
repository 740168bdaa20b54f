//! Queued real-time signals, read many at a time from a `signalfd(2)`.

use crate::{Mechanism, Trigger};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "signalfd",
    label: "signalfd",
    summary: "a queued real-time signal (F_SETSIG), signalfd(2)",
    trigger: Trigger::Edge,
    queued: true,
    reports_hangup: false,
    detaches: false,
    limits: LIMITS,
    available,
    open,
};

#[cfg(not(target_os = "linux"))]
crate::elsewhere::elsewhere!("Linux only");
#[cfg(not(target_os = "linux"))]
const LIMITS: &[&str] = &[];

#[cfg(target_os = "linux")]
use crate::rtsig::{LIMITS, available};
#[cfg(target_os = "linux")]
use here::open;

#[cfg(target_os = "linux")]
mod here {
    use std::io;
    use std::os::fd::{AsFd, AsRawFd};
    use std::time::Duration;

    use libc::{POLLIN, pollfd};
    use sys::signal::{SignalFd, SignalSet, Taken};

    use crate::Readiness;
    use crate::rtsig::{self, Source};

    /// The most signals that one read takes, each of 128 bytes.
    const BATCH_MAX: usize = 4_096;

    pub(super) fn open(capacity: usize) -> io::Result<Box<dyn Readiness>> {
        rtsig::open(capacity, |set| SignalFd::new(set, capacity.clamp(16, BATCH_MAX)))
    }

    impl Source for SignalFd {
        #[inline]
        fn take(
            &mut self,
            _set: &SignalSet,
            timeout: Option<Duration>,
            taken: &mut Vec<Taken>,
        ) -> io::Result<()> {
            taken.extend(self.read()?);
            if !taken.is_empty() || timeout == Some(Duration::ZERO) {
                return Ok(());
            }
            let mut state = [pollfd { fd: self.as_fd().as_raw_fd(), events: POLLIN, revents: 0 }];
            if sys::poll::poll(&mut state, timeout)? > 0 {
                taken.extend(self.read()?);
            }
            Ok(())
        }
    }
}
