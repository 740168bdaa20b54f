//! A server of every mechanism: what it does, over TLS too, and how it ends.

mod common;
mod ending;
mod serving;
mod tls;
