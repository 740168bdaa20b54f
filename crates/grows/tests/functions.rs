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
        .metric("steps", |n| (n * n) as f64)
        .at_most(Class::Quadratic);
    assert_eq!(judged.verdict, Kept::Holds);
    assert!(
        judged.sentence.starts_with("holds: a \"square\", or so at most quadratic: ×100"),
        "{}",
        judged.sentence
    );
}

#[test]
fn a_limit_that_is_exceeded_panics_with_the_verdict() {
    let square = grows::cost("square").over([10, 30, 100]);
    let mut growth = square.metric("steps", |n| (n * n) as f64);
    let panicked = catch_unwind(AssertUnwindSafe(|| growth.at_most(Class::Constant))).unwrap_err();
    let message = panicked.downcast_ref::<String>().unwrap();
    assert!(message.starts_with("fails: square at most constant: ×"), "{message}");
}

#[test]
fn what_stays_open_passes_unless_it_must_be_sure() {
    // Two points leave several classes.
    let half_more = |n| if n == 1_000 { 10.0 } else { 15.0 };
    let cost = grows::cost("calls").over([2_000, 1_000]).metric("calls", half_more);
    let mut growth = cost.budget(Duration::ZERO);
    assert_eq!(growth.at_most(Class::Logarithmic).verdict, Kept::Open);
    let is_refused = catch_unwind(AssertUnwindSafe(|| growth.surely_at_most(Class::Logarithmic)));
    assert!(is_refused.is_err());
}

#[test]
#[should_panic(expected = "name two points")]
fn a_single_point_does_not_grow() {
    let _ = grows::cost("square").over([1]);
}

#[test]
fn any_number_is_a_cost() {
    let bytes = |n: u64| {
        f64::from(u32::try_from(Vec::<u64>::with_capacity(n as usize).capacity() * 8).unwrap())
    };
    let points = [100, 300, 1_000, 3_000, 10_000];
    let judged =
        grows::cost("vector").over(points).metric("B", bytes).surely_at_most(Class::Linear);
    assert!(
        judged.sentence.starts_with("holds: vector at most linear: ×100"),
        "{}",
        judged.sentence
    );
    let judged = grows::cost("vector").over(points).metric("B", bytes).judge(Class::SquareRoot);
    assert_eq!(judged.verdict, Kept::Fails, "{}", judged.sentence);
    let none = grows::cost("nothing").over(points).metric("B", |_| 0.0).judge(Class::Constant);
    assert_eq!(none.verdict, Kept::Open, "{}", none.sentence);
}

#[test]
fn a_rate_is_held_against_what_one_thread_does() {
    // However many call it, the lock lets them in one by one.
    let lock = std::sync::Mutex::new(0_u64);
    let under_lock = || {
        let mut sum = lock.lock().unwrap();
        *sum ^= square(20);
    };
    let mut scaling = grows::cost("lock").threads([2]).measure(under_lock);
    let judged = scaling.judge(0.95);
    assert_ne!(judged.verdict, Kept::Holds, "{}", judged.sentence);
    assert!(judged.sentence.contains("lock at least ×0.95"), "{}", judged.sentence);
    // Nothing is less than none of it.
    let judged =
        grows::cost("free").threads([1, 2]).setup(|_| 20).measure(|n| square(*n)).at_least(0.0);
    assert_eq!(judged.verdict == Kept::Holds, judged.factor.is_some(), "{}", judged.sentence);
    // More threads than CPUs are left out.
    let judged = grows::cost("alone").threads([1 << 40]).measure(|| square(10)).at_least(0.99);
    assert_eq!(judged.verdict, Kept::Open, "{}", judged.sentence);
}
