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
/// Processes of the server that do the work, where there are several.
pub const WORKERS: &str = "workers of the server";
/// How many of them ended.
pub const WORKERS_ENDED: &str = "workers that ended";
/// Their CPU time, in seconds.
pub const WORKERS_CPU_S: &str = "CPU time of the workers_s";
/// The part of it that one had, which had the most.
pub const BUSIEST_SHARE: &str = "share of the busiest worker";
/// How long it was warmed up, in seconds; absent where its rate was level at once.
pub const WARM_UP_S: &str = "warm-up_s";
/// Replies a second when that began.
pub const COLD_PER_S: &str = "replies/s before";
/// Replies a second when it ended.
pub const WARM_PER_S: &str = "replies/s after";
/// Whether the rate still rose then: 1; absent where it did not.
pub const IS_RISING: &str = "replies/s still rising";
/// What it takes with immediate ones.
pub const IMMEDIATE_MS: &str = "reply with immediate acknowledgements_ms";
