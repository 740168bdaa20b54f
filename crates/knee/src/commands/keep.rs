//! What keeps runs: the record, who may write to it, and the archive that several machines share.

pub mod claim;
pub mod push;
pub mod record;
pub mod record_file;
