//! Replies: their status, their head, and the bytes that follow.

pub(crate) mod body;
pub(crate) mod media_type;
pub(crate) mod status;
pub(crate) mod writer;
