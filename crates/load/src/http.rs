//! As much of HTTP as a generator has to understand.

pub(crate) mod delayed;
pub(crate) mod pipelined;
pub(crate) mod receive;
pub(crate) mod reply;
pub(crate) mod url;
