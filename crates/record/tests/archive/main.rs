//! The archive, from outside: what it keeps, what it refuses, and what it survives.

mod common;
mod disk;
mod files;
mod kill;
mod lifecycle;
mod permission;
mod round_trip;
mod schema_document;
mod writers;
