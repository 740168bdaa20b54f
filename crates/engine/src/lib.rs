//! Placeholder opening line, replaced as the crate is built.
