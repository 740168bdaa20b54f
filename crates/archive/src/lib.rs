//! Keeps runs: in a SQLite file, or for many machines in a PostgreSQL database.
//!
//! A run, a cell and a profiled cell are the serde form of their types in [`model`], each with a checksum. What an archive
//! does with them is written once, over the rows of a small `Database`.
#![forbid(unsafe_code)]

mod archive;
mod body;
mod database;
mod error;
pub mod keeping;
mod location;
mod meeting;
mod merge;
mod opening;
#[cfg(feature = "postgres")]
mod postgres;
mod reference;
mod server_fault;
mod sqlite;
mod url;

pub use archive::{Archive, RunWriter};
pub use error::Error;
pub use location::{DatabaseUrl, Location};
pub use meeting::{Meeting, Posting};
pub use merge::{Merged, merge};
pub use opening::{check, meeting, open, open_read_only};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresArchive, PostgresMeeting};
pub use reference::{RunRef, pick};
pub use server_fault::ServerFault;
pub use sqlite::{SqliteArchive, default_path};
