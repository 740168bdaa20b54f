//! The names of facts of a cell that say what its server did. Their values are numbers.

/// Dead connections of the cell.
pub const DEAD: &str = "dead connections held";
/// Processes of the server without the connections of the cell.
pub const PROCESSES_BEFORE: &str = "processes of the server";
/// Processes of the server with them.
pub const PROCESSES_AFTER: &str = "processes with the dead connections";
/// Threads of the server without the connections of the cell.
pub const THREADS_BEFORE: &str = "threads of the server";
/// Threads of the server with them.
pub const THREADS_AFTER: &str = "threads with the dead connections";
/// Replies over each connection until the server ended it.
pub const REPLIES_PER_CONNECTION: &str = "replies over each connection";
/// Whether these replies are of HTTP/1.0: 1, or 0.
pub const HTTP_10: &str = "HTTP/1.0";
/// Whether the server ended them without a word: 1; absent where it announced it.
pub const UNANNOUNCED: &str = "ended without announcing it";
/// What a reply takes that waits for a delayed acknowledgement, in milliseconds.
pub const DELAYED_MS: &str = "reply with delayed acknowledgements_ms";
/// What it takes with immediate ones.
pub const IMMEDIATE_MS: &str = "reply with immediate acknowledgements_ms";
