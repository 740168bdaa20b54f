//! Queued real-time signals, taken one at a time by `sigtimedwait(2)`.

use crate::{Mechanism, Trigger};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "sigio",
    label: "sigio",
    summary: "a queued real-time signal (F_SETSIG), sigtimedwait(2)",
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
    use std::time::Duration;

    use sys::signal::{self, SignalSet, Taken};

    use crate::Readiness;
    use crate::rtsig::{self, Source};

    struct OneByOne;

    pub(super) fn open(capacity: usize) -> io::Result<Box<dyn Readiness>> {
        rtsig::open(capacity, |_| Ok(OneByOne))
    }

    impl Source for OneByOne {
        #[inline]
        fn take(
            &mut self,
            set: &SignalSet,
            timeout: Option<Duration>,
            taken: &mut Vec<Taken>,
        ) -> io::Result<()> {
            taken.extend(signal::take(set, timeout)?);
            Ok(())
        }
    }
}
