//! Runs and tables that come in and go out: export, import, analyse, and the record itself.

pub mod analyse;
pub mod export;
pub mod import;
pub mod push;
pub mod record;
pub mod table_flags;
