//! Whether this process was started without a standard output.
//!
//! Before `main`, the standard library opens /dev/null in place of a standard stream that is closed: what is written then
//! is lost without an error. So this looks before it does.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn look() {
    // SAFETY: F_GETFD takes a number, and points to nothing.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WAS_CLOSED.store(flags < 0, Ordering::Relaxed);
}

#[used]
// SAFETY: the C library calls each address of this section once, before the standard library begins; `look` needs nothing
// of either.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Whether descriptor 1 was closed when this process was started.
pub fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}
