//! Linux kernels booted in QEMU, with knee as their only program.
//!
//! The guest measures one cell of its plan at a time, which the host asks for: a guest that dies loses the cell that it is
//! at, and nothing else.
#![forbid(unsafe_code)]

mod boot;
mod connect;
mod console;
mod init;
mod kernel;
mod machine;
mod message;
mod monitor;
mod needs;
mod probe;
mod root;
mod tools;
mod wire;
mod xen;

pub use boot::{Guest, GuestFault};
pub use console::{Console, LineKind, Mishap, MishapKind, mishaps_here};
pub use init::{GUEST_COMMAND, is_init, main as init_main};
pub use kernel::{Kernel, Machine};
pub use machine::{Accelerator, Hardware, qemu_version};
pub use message::{FromGuest, Job, ToGuest};
pub use needs::Need;
pub use probe::kvm_works;
pub use root::{Carried, write_initramfs};
pub use tools::build_tools;
pub use wire::{WireFault, receive, send};
pub use xen::Xen;
