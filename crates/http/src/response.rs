//! Replies: their status, their head, and the bytes that follow.

pub(crate) mod media_type;
pub(crate) mod status;
pub(crate) mod writer;

use std::collections::VecDeque;
use std::fs::File;
use std::rc::Rc;

/// What is to be sent after the head, where it is not in the output already.
#[derive(Debug)]
pub(crate) struct Body {
    pub parts: VecDeque<Part>,
}

#[derive(Debug)]
pub(crate) enum Part {
    Bytes(Vec<u8>),
    /// So many bytes of a file from `at` on, one at least. Where the file has shrunk meanwhile there are
    /// fewer: then the connection has to be closed, since its length was promised.
    File {
        file: Rc<File>,
        at: u64,
        bytes: u64,
    },
}
