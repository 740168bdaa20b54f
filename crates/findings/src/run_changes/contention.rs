//! That an operation changed only where those that do it share something, as sentences.

use crate::format::{ci, count, counted, factor, significant};
use analysis::Estimate;
use analysis::compare::{Contention, Verdict};

/// `dup-close by 4 threads is 70.5 times slower (95 % CI 60.2–82.0) with queued spinlocks than with test-and-set ones; by 4
/// processes, which do not share the descriptor table, it is 1.26 times slower (95 % CI 1.10–1.43)`, without a full stop.
pub(crate) fn sentence(label: &str, contention: &Contention) -> String {
    let Contention { slowdown, control, control_verdict, shared, .. } = contention;
    let with_interval = |(times, [low, high]): (String, [f64; 2])| {
        format!("{times} ({})", ci(&significant(low), &significant(high)))
    };
    let Estimate { value, low, high } = *control;
    let alike = alike(*control_verdict).map(|word| format!("{word}, {}", factor(value)));
    let control =
        with_interval(alike.map_or_else(|| slowdown_text(*control), |text| (text, [low, high])));
    let apart = match shared.as_str() {
        "" => String::new(),
        shared => format!(", which do not share {shared},"),
    };
    format!(
        "{} is {}{}; by {}{apart} it is {control}",
        head(label, contention),
        with_interval(slowdown_text(*slowdown)),
        locks(contention),
        counted(&count(contention.point), &contention.separate),
    )
}

/// The same in fewer words: `dup-close by 4 threads is 70.5 times slower with queued spinlocks than with test-and-set ones, and
/// by processes 1.26 times slower`.
pub fn short_sentence(label: &str, contention: &Contention) -> String {
    let Contention { slowdown, control, control_verdict, separate, .. } = contention;
    let control = alike(*control_verdict).map_or_else(|| slowdown_text(*control).0, str::to_owned);
    let (head, slowdown) = (head(label, contention), slowdown_text(*slowdown).0);
    format!("{head} is {slowdown}{}, and by {separate} {control}", locks(contention))
}

/// What a control is that is neither slower nor faster.
fn alike(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Slower | Verdict::Faster => None,
        Verdict::Same => Some("the same"),
        Verdict::Undecided => Some("not surely different"),
    }
}

fn head(label: &str, contention: &Contention) -> String {
    format!("{label} by {}", counted(&count(contention.point), &contention.sharing))
}

/// ` with queued spinlocks than with test-and-set ones`; ` than in base` where it is not known how they wait.
fn locks(contention: &Contention) -> String {
    let waiting = contention.waiting.as_ref();
    let both = waiting.and_then(|fact| fact.base.as_ref().zip(fact.new.as_ref()));
    both.map_or_else(
        || " than in base".to_owned(),
        |(base, new)| format!(" with {new} spinlocks than with {base} ones"),
    )
}

/// `70.5 times slower`, and the ends of its interval.
pub(crate) fn slowdown_text(slowdown: Estimate) -> (String, [f64; 2]) {
    let Estimate { value, low, high } = slowdown;
    if value >= 1.0 {
        return (format!("{} times slower", significant(value)), [low, high]);
    }
    (format!("{} times faster", significant(1.0 / value)), [1.0 / high, 1.0 / low])
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::compare::Difference;

    fn contention(slowdown: f64, control: f64, control_verdict: Verdict) -> Contention {
        let estimate = |value: f64| Estimate { value, low: value / 1.1, high: value * 1.1 };
        Contention {
            point: 4,
            slowdown: estimate(slowdown),
            control: estimate(control),
            control_verdict,
            sharing: "threads".into(),
            separate: "processes".into(),
            shared: "the descriptor table".into(),
            waiting: Some(Difference {
                what: "kernel.spinlocks".into(),
                base: Some("test-and-set".into()),
                new: Some("queued".into()),
            }),
        }
    }

    #[test]
    fn the_factor_stands_with_its_interval_and_its_control() {
        assert_eq!(
            sentence("dup-close", &contention(70.0, 1.2, Verdict::Slower)),
            "dup-close by 4 threads is 70.0 times slower (95 % CI 63.6–77.0) with queued spinlocks than with \
             test-and-set ones; by 4 processes, which do not share the descriptor table, it is 1.20 times slower \
             (95 % CI 1.09–1.32)"
        );
        let faster = contention(0.02, 1.0, Verdict::Same);
        assert_eq!(
            short_sentence("dup-close", &faster),
            "dup-close by 4 threads is 50.0 times faster with queued spinlocks than with test-and-set ones, and by \
             processes the same"
        );
    }

    #[test]
    fn what_is_not_known_is_not_named() {
        let mut contention = contention(70.0, 1.2, Verdict::Undecided);
        (contention.waiting, contention.shared) = (None, String::new());
        assert_eq!(
            sentence("futex-wake", &contention),
            "futex-wake by 4 threads is 70.0 times slower (95 % CI 63.6–77.0) than in base; by 4 processes it is \
             not surely different, ×1.20 (95 % CI 1.09–1.32)"
        );
    }
}
