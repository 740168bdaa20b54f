//! The system calls that rustix lacks or changes on the way, in a few safe functions, and what Linux shows in `/proc`.
//!
//! Every `unsafe` block of the project that talks to the kernel is here, one file a family of calls. Families of one
//! topic share a directory, which is no part of their paths: `waiting/epoll.rs` is `sys::epoll`.
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(all(feature = "program", not(target_os = "linux")))]
compile_error!(
    "knee measures Linux only. What works on this system: the library of mechanisms (`--package knee-readiness`), and growth \
     in tests (`knee = { default-features = false }`)"
);

#[cfg(target_os = "linux")]
pub use address_space::*;
#[cfg(unix)]
pub use files::*;
pub use processes::*;
pub use waiting::*;

mod answer;
#[cfg(target_os = "linux")]
pub mod calls;
pub mod clock;
#[cfg(target_os = "linux")]
pub mod futex;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(target_os = "linux")]
pub mod loopback;
#[cfg(target_os = "linux")]
pub mod perf;
#[cfg(target_os = "linux")]
pub mod plain;
#[cfg(target_os = "linux")]
pub mod proc;
#[cfg(target_os = "linux")]
pub mod pthread;
#[cfg(target_os = "linux")]
pub mod sockets;
#[cfg(target_os = "linux")]
pub mod tcp;

/// Waiting for descriptors, by any mechanism.
mod waiting {
    #[cfg(target_os = "linux")]
    pub mod aio;
    #[cfg(any(target_os = "solaris", target_os = "illumos"))]
    pub mod devpoll;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub mod epoll;
    #[cfg(not(any(target_os = "solaris", target_os = "illumos")))]
    pub mod kqueue;
    pub mod poll;
    #[cfg(any(target_os = "solaris", target_os = "illumos"))]
    pub mod port;
    #[cfg(target_os = "linux")]
    pub mod ring;
    pub mod timeout;
}

/// Processes and threads: how they start and end, what they use, and what bounds them.
mod processes {
    #[cfg(target_os = "linux")]
    pub mod cgroup;
    #[cfg(target_os = "linux")]
    pub mod cpus;
    #[cfg(target_os = "linux")]
    pub mod cputime;
    #[cfg(target_os = "linux")]
    pub mod fork;
    #[cfg(target_os = "linux")]
    pub mod limits;
    pub mod process;
    #[cfg(target_os = "linux")]
    pub mod signal;
    #[cfg(target_os = "linux")]
    pub mod stdout;
    #[cfg(target_os = "linux")]
    pub mod thread;
}

/// Memory, of this process and of others.
#[cfg(target_os = "linux")]
mod address_space {
    pub mod heap;
    pub mod map;
    pub mod memory;
    pub mod peek;
    pub mod shared;
}

/// Files, and where they lie.
#[cfg(unix)]
mod files {
    #[cfg(target_os = "linux")]
    pub mod byte_lock;
    #[cfg(target_os = "linux")]
    pub mod cached;
    #[cfg(target_os = "linux")]
    pub mod fiemap;
    pub mod file;
    #[cfg(target_os = "linux")]
    pub mod mounts;
}
