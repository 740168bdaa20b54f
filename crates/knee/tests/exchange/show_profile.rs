//! `knee show --profile`.

use crate::common::Knee;
use crate::made::knee;

#[test]
fn a_profile_is_shown_with_its_functions_and_their_instructions() {
    let knee = knee();
    let came = knee.run(&["show", "--profile"]);
    assert_eq!((came.code, came.err.as_str()), (Some(0), ""));
    assert!(came.out.contains("made, STEEP · ") && came.out.contains("  walk "), "{}", came.out);
    assert!(!came.out.contains("walk+0x1a3"), "{}", came.out);
    let all = knee.run(&["show", "--profile", "--all"]).out;
    let named = knee.run(&["show", "--profile=walk"]).out;
    for text in [all, named] {
        assert!(text.contains("walk, kernel · made, STEEP · at 100,000 things"), "{text}");
        assert!(text.contains("   67 %   walk+0x1a3\n"), "{text}");
        assert!(text.contains("No instructions of walk: the profile keeps only that"), "{text}");
    }
    let answered = knee.run(&["show"]).out;
    assert!(!answered.contains("walk+0x"), "only where it is asked for: {answered}");
}

#[test]
fn what_can_not_be_shown_is_one_line() {
    let knee = knee();
    let came = knee.run(&["show", "--profile=wallk"]);
    assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{came:?}");
    assert!(came.err.contains("function `wallk`") && came.err.contains("it has some of walk"));
    let without = Knee::new();
    let (mut run, cells) = crate::made::made(3);
    run.profile = model::Profile::default();
    without.keep(&run, &cells, "2026-11-21T14:02:12+00:00");
    let came = without.run(&["show", "--profile"]);
    let expected = "knee: --profile: the run has no profile; `knee run --profile` measures one\n";
    assert_eq!((came.code, came.err.as_str()), (Some(2), expected));
}
