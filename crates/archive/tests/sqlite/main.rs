//! The archive, from outside: what it keeps, what it refuses, and what it survives.

mod common;
mod copies;
mod damage;
mod damaged;
mod disk;
mod files;
mod hidden;
mod kill;
mod lifecycle;
mod merge;
mod older;
mod permission;
mod profiles;
mod round_trip;
mod schema_document;
mod writers;
