//! Runs and tables that come in and go out: export, import, analyse.

pub mod analyse;
pub mod export;
pub mod import;
pub mod judge;
pub mod table_flags;
