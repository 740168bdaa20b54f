//! The retired words: what no identifier may hold, and the word to use instead.
//!
//! A name says what a value is, in the words of the field: a reader who knows perf, fio and a statistics
//! textbook needs no glossary. `cargo xtask tidy` refuses them.

/// A word and what stands for it.
pub struct Retired {
    /// The word, in lower case.
    pub word: &'static str,
    /// What to write.
    pub instead: &'static str,
}

const fn retired(word: &'static str, instead: &'static str) -> Retired {
    Retired { word, instead }
}

/// Refused anywhere inside an identifier: between underscores, or as a part of a type's name.
pub const INSIDE: &[Retired] = &[
    retired("told", "format, text, output, message, label or sentence"),
    retired("said", "format, text, output, message, label or sentence"),
    retired("tell", "format, write or label"),
    retired("tells", "format, writes or labels"),
    retired("spelled", "format or text"),
    retired("beside", "paired_with, sibling or alongside"),
    retired("whom", "the noun"),
    retired("nobody", "the noun, or none"),
    retired("everybody", "the noun, or all"),
    retired("mend", "fix"),
    retired("mends", "fix"),
    retired("mended", "fixed"),
    retired("void", "failed"),
    retired("voided", "failed"),
    retired("became", "clamped"),
    retired("course", "trend"),
    retired("contest", "comparison"),
    retired("contests", "comparisons"),
    retired("parted", "split"),
    retired("weigh", "model_weights"),
    retired("outlook", "the thing's name"),
    retired("sitting", "the thing's name"),
    retired("doing", "stack_sample"),
    retired("standing", "thread_state, or the thing's name"),
    retired("spots", "frames, or the thing's name"),
    retired("lane", "worker"),
    retired("lanes", "workers"),
    retired("flight", "in_flight"),
    retired("door", "listener, or the thing's name"),
    retired("bell", "wakeup"),
    retired("rope", "the thing's name"),
    retired("desk", "the thing's name"),
    retired("folder", "directory"),
    retired("folders", "directories"),
    retired("room", "capacity"),
    retired("longest", "max"),
    retired("condition", "parameter"),
    retired("conditions", "parameters"),
];

/// Refused as a whole identifier.
pub const WHOLE: &[Retired] = &[
    retired("exceeded_with", "p_value"),
    retired("chance_of", "p_value or quantile"),
    retired("Ask", "RunRequest, or the thing's request"),
    retired("Asks", "requests"),
    retired("Own", "the thing's name"),
    retired("of", "the noun; a constructor is new or from_x"),
    retired("one", "the noun; first of a pair"),
    retired("other", "the noun; right or second of a pair"),
    retired("others", "the noun"),
    retired("known", "the noun"),
    retired("place", "position, point or path"),
    retired("places", "positions, points or paths"),
    retired("held", "the noun"),
    retired("found", "the noun"),
    retired("near", "the noun"),
    retired("least", "min"),
    retired("most", "max"),
    retired("it", "the noun"),
    retired("its", "the noun"),
];

/// An identifier that holds a retired word and is right all the same.
pub struct Allowed {
    /// The identifier, or the retired word itself for every identifier that holds it.
    pub name: &'static str,
    /// The crate; empty for all.
    pub owner: &'static str,
    /// Why it is the right word there.
    #[allow(dead_code, reason = "for readers of this table")]
    pub reason: &'static str,
}

/// Where a retired word is the field's own.
pub const ALLOWED: &[Allowed] = &[
    Allowed { name: "c_void", owner: "", reason: "C's own name of the type" },
    Allowed { name: "in_flight", owner: "", reason: "the field's word for an unanswered request" },
    Allowed { name: "flight", owner: "load", reason: "part of in_flight, the same word" },
    Allowed { name: "conditional", owner: "http", reason: "RFC 9110's conditional requests" },
    Allowed { name: "condition", owner: "http", reason: "RFC 9110's conditional requests" },
    Allowed { name: "conditions", owner: "http", reason: "RFC 9110's conditional requests" },
];

/// Paths of other crates, whose names are theirs.
pub const ALLOWED_PATHS: &[&str] = &["Error::other", "serde(other)", "option::of", "perf::Folder"];
