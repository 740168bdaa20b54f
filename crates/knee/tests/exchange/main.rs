//! Files in and out: export, import, foreign tables, merged records, and the seeds of the fuzz targets.

#[path = "../common/mod.rs"]
mod common;

mod analyse;
mod export;
mod failed;
mod fuzz_seeds;
mod import;
mod judge;
mod made;
mod published;
mod record_merge;
mod record_push;
mod show_profile;
mod tables;
