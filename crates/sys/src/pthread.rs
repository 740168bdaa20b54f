//! The C library's mutex and spinlock, held for the length of a closure.

use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;

/// In a place of its own, since it must not move; and on cache lines of its own, so that what lies
/// next to it makes no difference to how fast it is.
#[repr(align(128))]
struct Apart<T>(UnsafeCell<T>);

/// A `pthread_mutex_t` of the normal kind: whoever asks for it twice waits for ever.
pub struct Mutex {
    raw: Box<Apart<libc::pthread_mutex_t>>,
}

// SAFETY: it is made to be shared. A mutex may be destroyed by another thread than the one that made
// it, and `hold` unlocks it on the thread that locked it.
unsafe impl Send for Mutex {}
// SAFETY: as above.
unsafe impl Sync for Mutex {}

impl Mutex {
    /// A free mutex.
    ///
    /// # Errors
    /// What the C library says: `ENOMEM`.
    pub fn new() -> io::Result<Mutex> {
        let mutex =
            Mutex { raw: Box::new(Apart(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER))) };
        let mut kind = MaybeUninit::uninit();
        // SAFETY: `kind` is valid to write to.
        checked(unsafe { libc::pthread_mutexattr_init(kind.as_mut_ptr()) })?;
        // SAFETY: it was initialised just now. The default kind need not be the normal one, and with
        // another it would be undefined to lock it twice.
        let normal = unsafe {
            libc::pthread_mutexattr_settype(kind.as_mut_ptr(), libc::PTHREAD_MUTEX_NORMAL)
        };
        // SAFETY: both are valid; nothing else knows of the mutex. That what the initialiser left is
        // initialised anew is harmless: it was not used.
        let made = unsafe { libc::pthread_mutex_init(mutex.raw.0.get(), kind.as_ptr()) };
        // SAFETY: it was initialised above, and is not used any more.
        checked(unsafe { libc::pthread_mutexattr_destroy(kind.as_mut_ptr()) })?;
        checked(normal)?;
        checked(made)?;
        Ok(mutex)
    }

    /// Waits for the mutex, does `critical`, and releases it, also when `critical` panics.
    #[inline]
    pub fn hold<T>(&self, critical: impl FnOnce() -> T) -> T {
        // SAFETY: it was initialised by `new` and lives while `self` does.
        let code = unsafe { libc::pthread_mutex_lock(self.raw.0.get()) };
        if code != 0 {
            refused("pthread_mutex_lock", code);
        }
        let _held = Leave(|| {
            // SAFETY: this thread has locked it above.
            unsafe { libc::pthread_mutex_unlock(self.raw.0.get()) };
        });
        critical()
    }
}

impl Drop for Mutex {
    fn drop(&mut self) {
        // SAFETY: it is initialised, and it is free: `hold` borrows it. Destroying can only be
        // refused for one that is held.
        unsafe { libc::pthread_mutex_destroy(self.raw.0.get()) };
    }
}

/// A `pthread_spinlock_t` of this process: whoever asks for it twice spins for ever.
pub struct Spinlock {
    raw: Box<Apart<libc::pthread_spinlock_t>>,
}

// SAFETY: it is made to be shared. A spinlock may be destroyed by another thread than the one that
// made it, and `hold` unlocks it on the thread that locked it.
unsafe impl Send for Spinlock {}
// SAFETY: as above.
unsafe impl Sync for Spinlock {}

impl Spinlock {
    /// A free spinlock.
    ///
    /// # Errors
    /// What the C library says: `ENOMEM`, `EAGAIN`.
    pub fn new() -> io::Result<Spinlock> {
        let raw = Box::new(Apart(UnsafeCell::new(0)));
        // SAFETY: it is valid to write to, and nothing else knows of it.
        checked(unsafe { libc::pthread_spin_init(raw.0.get(), libc::PTHREAD_PROCESS_PRIVATE) })?;
        Ok(Spinlock { raw })
    }

    /// Waits for the lock, does `critical`, and releases it, also when `critical` panics.
    #[inline]
    pub fn hold<T>(&self, critical: impl FnOnce() -> T) -> T {
        // SAFETY: it was initialised by `new` and lives while `self` does. A thread that holds it
        // already spins for ever, with the C libraries that Linux has.
        let code = unsafe { libc::pthread_spin_lock(self.raw.0.get()) };
        if code != 0 {
            refused("pthread_spin_lock", code);
        }
        let _held = Leave(|| {
            // SAFETY: this thread has locked it above.
            unsafe { libc::pthread_spin_unlock(self.raw.0.get()) };
        });
        critical()
    }
}

impl Drop for Spinlock {
    fn drop(&mut self) {
        // SAFETY: it is initialised, and it is free: `hold` borrows it.
        unsafe { libc::pthread_spin_destroy(self.raw.0.get()) };
    }
}

/// Does something when it goes, whichever way.
struct Leave<F: FnMut()>(F);

impl<F: FnMut()> Drop for Leave<F> {
    #[inline]
    fn drop(&mut self) {
        (self.0)();
    }
}

/// These calls return their error.
fn checked(code: libc::c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

/// Neither call has a reason to refuse one of these kinds. To go on without the lock would be worse
/// than to stop.
#[cold]
fn refused(call: &str, code: libc::c_int) -> ! {
    panic!("{call} failed: {}", io::Error::from_raw_os_error(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Two threads add to a number in two steps each, which only a lock makes one.
    fn counts(hold: impl Fn(&mut dyn FnMut()) + Sync) -> u32 {
        let number = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        hold(&mut || {
                            let seen = number.load(Ordering::Relaxed);
                            number.store(seen + 1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        number.into_inner()
    }

    #[test]
    fn both_exclude() {
        let mutex = Mutex::new().unwrap();
        assert_eq!(counts(|critical| mutex.hold(critical)), 2_000);
        let spinlock = Spinlock::new().unwrap();
        assert_eq!(counts(|critical| spinlock.hold(critical)), 2_000);
    }

    #[test]
    fn both_are_free_after_a_panic() {
        let mutex = Mutex::new().unwrap();
        let failed = catch_unwind(AssertUnwindSafe(|| mutex.hold(|| panic!("inside"))));
        assert!(failed.is_err() && mutex.hold(|| true));
        let spinlock = Spinlock::new().unwrap();
        let failed = catch_unwind(AssertUnwindSafe(|| spinlock.hold(|| panic!("inside"))));
        assert!(failed.is_err() && spinlock.hold(|| true));
    }
}
