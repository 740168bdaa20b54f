//! The system calls that rustix lacks or changes on the way, in a few safe functions, and what Linux shows in `/proc`.
//!
//! Every `unsafe` block of the project that talks to the kernel is here, one file a family of calls.
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(target_os = "linux")]
pub mod aio;
#[cfg(target_os = "linux")]
pub mod byte_lock;
#[cfg(target_os = "linux")]
pub mod cached;
#[cfg(target_os = "linux")]
pub mod calls;
#[cfg(target_os = "linux")]
pub mod cgroup;
pub mod clock;
#[cfg(target_os = "linux")]
pub mod cpus;
#[cfg(target_os = "linux")]
pub mod cputime;
#[cfg(any(target_os = "solaris", target_os = "illumos"))]
pub mod devpoll;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod epoll;
#[cfg(target_os = "linux")]
pub mod fiemap;
#[cfg(unix)]
pub mod file;
#[cfg(target_os = "linux")]
pub mod fork;
#[cfg(target_os = "linux")]
pub mod futex;
#[cfg(target_os = "linux")]
pub mod heap;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(not(any(target_os = "solaris", target_os = "illumos")))]
pub mod kqueue;
#[cfg(target_os = "linux")]
pub mod limits;
#[cfg(target_os = "linux")]
pub mod loopback;
#[cfg(target_os = "linux")]
pub mod map;
#[cfg(target_os = "linux")]
pub mod memory;
#[cfg(target_os = "linux")]
pub mod mounts;
#[cfg(target_os = "linux")]
pub mod peek;
#[cfg(target_os = "linux")]
pub mod perf;
#[cfg(target_os = "linux")]
pub mod plain;
pub mod poll;
#[cfg(any(target_os = "solaris", target_os = "illumos"))]
pub mod port;
#[cfg(target_os = "linux")]
pub mod proc;
pub mod process;
#[cfg(target_os = "linux")]
pub mod pthread;
#[cfg(target_os = "linux")]
pub mod ring;
#[cfg(target_os = "linux")]
pub mod shared;
#[cfg(target_os = "linux")]
pub mod signal;
#[cfg(target_os = "linux")]
pub mod stdout;
#[cfg(target_os = "linux")]
pub mod tcp;
#[cfg(target_os = "linux")]
pub mod thread;
pub mod timeout;
