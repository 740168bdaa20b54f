//! Reasons as parts of sentences: what follows `because`, without a full stop.

pub use analysis::findings::reasons::*;
