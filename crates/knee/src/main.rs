//! `knee` finds where a system stops scaling.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    knee::with(&[]).main()
}
