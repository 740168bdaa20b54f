//! What a rank did of a load of several processes, as a sentence.

use crate::format::{count, percent};
use model::{Rank, RankMeasured};

/// `on node1: 2,500 replies; began 0.104 ms after the start (clock ± 0.048 ms); busiest thread 3.1 %`.
pub fn rank_sentence(rank: &Rank) -> String {
    let Some(measured) = &rank.measured else { return "missing".to_owned() };
    let &RankMeasured { replies, start_late_ns, clock_bound_ns, late, busy_share, .. } = measured;
    let sent_late = if late == 0 {
        String::new()
    } else {
        format!(", {} sent late", printable::quantity(late, "request"))
    };
    format!(
        "on {}: {} replies{sent_late}; began {:.3} ms after the start (clock ± {:.3} ms); busiest thread {}",
        measured.host,
        count(replies),
        start_late_ns as f64 / 1e6,
        clock_bound_ns as f64 / 1e6,
        percent(busy_share),
    )
}
