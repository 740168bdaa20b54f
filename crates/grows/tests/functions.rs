//! Functions whose growth is certain, whatever the machine does meanwhile.

use grows::{Class, Kept};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// n² additions.
fn square(n: u64) -> u64 {
    (0..n * n).fold(0, |sum, item| sum ^ std::hint::black_box(item))
}

#[test]
fn a_limit_that_is_kept_returns_the_verdict() {
    let judged = grows::cost("a \"square\", or so")
        .over([10, 30, 100])
        .measure(square)
        .at_most(Class::Quadratic);
    assert_ne!(judged.verdict, Kept::Fails);
    assert!(
        judged.sentence.contains("a \"square\", or so at most quadratic: ×"),
        "{}",
        judged.sentence
    );
}

#[test]
fn a_limit_that_is_exceeded_panics_with_the_verdict() {
    let mut growth = grows::cost("square").over([10, 30, 100]).measure(square);
    let panicked = catch_unwind(AssertUnwindSafe(|| growth.at_most(Class::Constant))).unwrap_err();
    let message = panicked.downcast_ref::<String>().unwrap();
    assert!(message.starts_with("fails: square at most constant: ×"), "{message}");
}

#[test]
fn what_stays_open_passes_unless_it_must_be_sure() {
    // Two points leave every class.
    let cost = || grows::cost("square").over([2_000, 1_000]).setup(|n| n);
    let mut growth = cost().measure(|n| square(*n / 10)).budget(Duration::ZERO);
    assert_eq!(growth.at_most(Class::Logarithmic).verdict, Kept::Open);
    let is_refused = catch_unwind(AssertUnwindSafe(|| growth.surely_at_most(Class::Logarithmic)));
    assert!(is_refused.is_err());
}

#[test]
#[should_panic(expected = "name two points")]
fn a_single_point_does_not_grow() {
    let _ = grows::cost("square").over([1]);
}
