//! Linux kernels booted in QEMU, with knee as their only program.
//!
//! The guest measures as any machine does, and hands each cell to the host as it ends: a guest that dies loses the
//! cell that it is at, and nothing else.
#![forbid(unsafe_code)]

pub mod kernel;
pub mod root;
pub mod wire;
