//! The server of files and the load generator, on their own.

pub mod httpd;
pub mod load;
