//! `knee` finds where a system stops scaling.
fn main() {}
