//! The doctor examines, fixes and puts back, on a machine that stays as it is: real settings are
//! changed only inside a network namespace, whose own they are.

use crate::common::{Came, Knee, came};
use serde_json::Value;
use std::process::Command;

/// Runs a script in a network namespace of its own, where `$KNEE` is the program; none where that is
/// not allowed, or settings can't be written there.
fn in_a_namespace(knee: &Knee, script: &str) -> Option<Came> {
    let may = "echo 100 > /proc/sys/net/core/somaxconn";
    let tried = Command::new("unshare").args(["--net", "sh", "-c", may]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: settings can't be changed in a network namespace of their own here");
        return None;
    }
    let mut command = knee.shell("");
    let mut inside = Command::new("unshare");
    inside.args(["--net", "sh", "-c", &format!("set -e; cd /proc/sys/net; {script}")]);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => inside.env(name, value),
            None => inside.env_remove(name),
        };
    }
    command = inside;
    Some(came(command.stdin(std::process::Stdio::null())))
}

/// Prints both settings on a line.
const VALUES: &str = "echo \"= $(cat core/somaxconn) $(cat ipv4/ip_local_port_range)\"";
const SICK: &str = "echo 128 > core/somaxconn; echo '40000 45000' > ipv4/ip_local_port_range";

/// The lines that [`VALUES`] printed.
fn values(came: &Came) -> Vec<String> {
    let lines = came.out.lines().filter_map(|line| line.strip_prefix("= "));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn what_is_fixed_is_put_back() {
    let knee = Knee::new();
    let script = format!(
        "{SICK}; \"$KNEE\" doctor --fix ports,somaxconn || echo \"exit $?\"; {VALUES}; \
         \"$KNEE\" doctor --undo; {VALUES}; \"$KNEE\" doctor --undo"
    );
    let Some(came) = in_a_namespace(&knee, &script) else { return };
    assert_eq!(came.code, Some(0), "{came:?}");
    assert_eq!(values(&came), ["4096 1024 65535", "128 40000 45000"], "{came:?}");
    assert!(came.out.contains("sysctl -w net.core.somaxconn=4096"), "{came:?}");
    assert!(came.out.contains("4096 → 128 in /proc/sys/net/core/somaxconn"), "{came:?}");
    assert!(came.out.contains("Nothing is to be put back"), "{came:?}");
    assert_eq!(knee.files(), [] as [String; 0], "no state is left behind");
}

#[test]
fn two_fixes_and_a_crash_in_between_are_undone_to_the_first_state() {
    let knee = Knee::new();
    // The second change of the second fix is taken back by hand: so it is when power fails before it.
    let script = format!(
        "{SICK}; \"$KNEE\" doctor --fix somaxconn || true; echo 64 > core/somaxconn; \
         \"$KNEE\" doctor --fix somaxconn,ports || true; {VALUES}; \
         echo 128 > core/somaxconn; \"$KNEE\" doctor --undo; {VALUES}"
    );
    let Some(came) = in_a_namespace(&knee, &script) else { return };
    assert_eq!(values(&came), ["4096 1024 65535", "128 40000 45000"], "{came:?}");
}

#[test]
fn what_somebody_else_changed_since_is_left_until_it_is_forced() {
    let knee = Knee::new();
    let script = format!(
        "{SICK}; \"$KNEE\" doctor --fix ports,somaxconn || true; echo 300 > core/somaxconn; \
         \"$KNEE\" doctor --undo || echo \"exit $?\"; {VALUES}; \
         \"$KNEE\" doctor --undo --force; {VALUES}"
    );
    let Some(came) = in_a_namespace(&knee, &script) else { return };
    assert_eq!(values(&came), ["300 40000 45000", "128 40000 45000"], "{came:?}");
    assert!(came.out.contains("it was changed to 300 since"), "{came:?}");
    assert!(came.out.contains("exit 1"), "{came:?}");
}

#[test]
fn without_permission_it_says_what_to_type_and_changes_nothing() {
    let knee = Knee::new();
    let directory = knee.directory.path().display();
    let script = format!(
        "{SICK}; chmod 777 {directory}; setpriv --reuid=65534 --clear-groups \"$KNEE\" doctor --fix \
         somaxconn || echo \"exit $?\"; {VALUES}"
    );
    let Some(came) = in_a_namespace(&knee, &script) else { return };
    if came.err.contains("setpriv") || came.err.contains("denied") {
        eprintln!("SKIPPED: nobody can't run the program here: {}", came.err);
        return;
    }
    assert_eq!(values(&came), ["128 40000 45000"], "{came:?}");
    assert!(came.out.contains("→ sudo sysctl -w net.core.somaxconn=4096"), "{came:?}");
    assert!(came.out.contains("exit 1"), "{came:?}");
    assert_eq!(knee.files(), [] as [String; 0], "nothing changed, nothing saved");
}

#[test]
fn json_has_every_check_and_what_was_done() {
    let knee = Knee::new();
    let script = format!("{SICK}; \"$KNEE\" doctor --fix somaxconn --json; {VALUES}");
    if let Some(came) = in_a_namespace(&knee, &script.replace("--json;", "--json || true;")) {
        let text = came.out.split("\n= ").next().unwrap();
        let message: Value = serde_json::from_str(text).unwrap();
        let fixed = &message["fixed"][0];
        assert_eq!(fixed["outcome"], "changed", "{message}");
        assert_eq!(fixed["files"][0]["was"], "128", "{message}");
    }
    let came = Knee::new().run(&["doctor", "--json"]);
    let message: Value = serde_json::from_str(&came.out).unwrap();
    let checks = message["checks"].as_array().unwrap();
    let states = ["ok", "warn", "bad", "unknown"];
    for check in checks {
        assert!(states.contains(&check["state"].as_str().unwrap()), "{check}");
        assert!(!check["why"].as_str().unwrap().is_empty(), "{check}");
    }
    let help = knee.run(&["doctor", "--help"]).out;
    let bad = checks.iter().any(|check| check["state"] == "bad");
    assert_eq!(came.code, Some(if bad { 5 } else { 0 }), "{came:?}");
    for check in checks {
        assert!(help.contains(check["name"].as_str().unwrap()), "{check} in {help}");
    }
}

#[test]
fn low_limits_are_bad_with_the_command_for_the_shell() {
    let knee = Knee::new();
    let came = came(&mut knee.shell("ulimit -n 64; exec \"$KNEE\" doctor"));
    assert_eq!(came.code, Some(5), "{came:?}");
    let line = came.out.lines().find(|line| line.contains(" descriptors ")).unwrap();
    assert!(line.trim_start().starts_with("bad"), "{line}");
    assert!(came.out.contains("10400"), "{}", came.out);
    assert!(!came.out.contains('\x1b'), "no colour off a terminal: {}", came.out);
}

#[test]
fn a_directory_on_a_full_disk_is_bad() {
    let knee = Knee::new();
    let disk = knee.directory.path().join("disk");
    std::fs::create_dir_all(&disk).unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&disk);
    if !mount.output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: no tmpfs can be mounted here, so no disk can be small");
        return;
    }
    let record = disk.join("knee.db");
    let words = ["doctor", "--json", "--record", record.to_str().unwrap()];
    let came = came(knee.command(&words).env("TMPDIR", &disk));
    let _ = Command::new("umount").arg("-l").arg(&disk).output();
    let message: Value = serde_json::from_str(&came.out).unwrap();
    let checks = message["checks"].as_array().unwrap();
    for name in ["temporary-files", "record"] {
        let check = checks.iter().find(|check| check["name"] == name).unwrap();
        assert_eq!(check["state"], "bad", "{check}");
        assert!(check["value"].as_str().unwrap().ends_with("(tmpfs)"), "{check}");
    }
    assert_eq!(came.code, Some(5));
}

#[test]
fn wrong_words_get_one_line() {
    let knee = Knee::new();
    let cases: [(&[&str], &str); 4] = [
        (&["doctor", "--fix", "governer"], "did you mean governor?"),
        (&["doctor", "--fix", "--undo"], "cannot be used with"),
        (&["doctor", "--force"], "--undo"),
        (&["doctor", "xyzzy"], "xyzzy"),
    ];
    for (words, wanted) in cases {
        let came = knee.run(words);
        assert_eq!(came.code, Some(2), "{words:?}: {came:?}");
        assert_eq!(came.err.lines().count(), 1, "{words:?}: {}", came.err);
        assert!(came.err.contains(wanted), "{words:?}: {}", came.err);
    }
}

#[test]
fn a_state_that_is_not_ours_is_refused_and_left_alone() {
    let knee = Knee::new();
    let file = knee.directory.path().join("knee/knee-doctor.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "my notes").unwrap();
    let came = knee.run(&["doctor", "--undo"]);
    assert_eq!(came.code, Some(2), "{came:?}");
    assert_eq!(came.err.lines().count(), 1, "{came:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "my notes");
}
