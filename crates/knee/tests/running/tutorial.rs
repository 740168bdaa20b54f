//! The tutorial's commands run as they stand, one after the other.

use crate::common::{Knee, alone, came};

#[test]
fn every_command_of_the_tutorial_runs_in_its_order() {
    let _alone = alone();
    let page = include_str!("../../../../docs/tutorial.md");
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let commands: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(commands.len() >= 8, "{commands:?}");
    let (knee, directory) = (Knee::new(), tempfile::tempdir().unwrap());
    for command in commands {
        // What takes a while is no matter here.
        let more = if command.starts_with("knee run poll ") { " --time 1ms" } else { "" };
        let command = format!("{}{more}", command.replace(",3k,10k ", ",3k "));
        let script = format!("knee() {{ \"$KNEE\" \"$@\"; }}\n{command}");
        let ended = came(knee.shell(&script).current_dir(directory.path()));
        assert_eq!(ended.code, Some(0), "{command}: {}{}", ended.out, ended.err);
    }
    assert!(directory.path().join("poll.html").is_file());
}
