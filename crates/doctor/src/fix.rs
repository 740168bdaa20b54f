//! `--fix` and `--undo`: changing settings, and putting back what was.

use super::saved::{Change, Claim, SavedSettings};
use super::{Examined, Machine, Remedy, Setting, State, Unknown, setting};
use crate::Error;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::path::Path;

/// The result of `--fix` for one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixResult {
    /// The check's name.
    pub check: &'static str,
    /// What `--fix` did.
    pub outcome: Outcome,
}

/// What `--fix` did for a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// These files hold something else now.
    Changed(Vec<Changed>),
    /// There was nothing to fix.
    Fine,
    /// knee can't do it, and why; a person can.
    Left {
        /// Why knee can't.
        why: String,
        /// What a person does instead; empty where there is nothing.
        remedy: String,
        /// Whether `remedy` is a command.
        is_command: bool,
    },
}

/// One file that holds something else now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The kernel's file.
    pub file: String,
    /// Its content before.
    pub was: String,
    /// Its content now.
    pub now: String,
}

impl Changed {
    /// What was written.
    pub fn setting(&self) -> Setting {
        Setting { file: self.file.clone(), value: self.now.clone() }
    }
}

impl FixResult {
    fn left(machine: &Machine, examined: &Examined, why: impl Into<String>) -> FixResult {
        let Examined { check, diagnosis, .. } = examined;
        let remedy = diagnosis.remedy.text(machine);
        let is_command = !matches!(diagnosis.remedy, Remedy::Advice(_));
        FixResult {
            check: check.name,
            outcome: Outcome::Left { why: why.into(), remedy, is_command },
        }
    }
}

/// A check that can be fixed, and what each of its files holds now.
struct Plan<'a> {
    examined: &'a Examined,
    settings: &'a [Setting],
    was: Vec<String>,
}

/// Fixes what may be fixed without harm, or what `names` names; the old settings are saved in `file` first.
pub fn fix(
    machine: &Machine,
    checks: &[Examined],
    names: &[String],
    file: &Path,
) -> Result<Vec<FixResult>, Error> {
    let chosen = |examined: &&Examined| {
        let named = names.iter().any(|name| name == examined.check.name);
        let needs_fix = matches!(examined.diagnosis.state, State::Bad | State::Warn);
        let may = matches!(examined.diagnosis.remedy, Remedy::Settings(_))
            && examined.check.fix_risk.is_none();
        named || (names.is_empty() && needs_fix && may)
    };
    let mut results = Vec::new();
    let mut plans = Vec::new();
    for examined in checks.iter().filter(chosen) {
        match plan(machine, examined) {
            Ok(plan) => plans.push(plan),
            Err(why_not) => results.push(why_not),
        }
    }
    if plans.is_empty() {
        return Ok(results);
    }
    let _claim = Claim::new(file)?;
    let mut saved = match SavedSettings::load(file)? {
        Some(saved) if !saved.is_of_another_boot(machine) => saved,
        _ => SavedSettings::new(machine),
    };
    for plan in &plans {
        save(machine, &mut saved, plan);
    }
    saved.save(file).map_err(|error| {
        let file = file.display();
        Error::Failed(format!("nothing was changed, because {file} can't be written: {error}"))
    })?;
    for plan in &plans {
        results.push(carry_out(machine, plan));
        for Setting { file, .. } in plan.settings {
            if let Ok(made) = setting::current(machine, file) {
                saved.note(file, &made);
            }
        }
    }
    // What could not be changed after all needs no putting back.
    saved.changes.retain(|change| !is_as_it_was(machine, change));
    saved.save_rest(file)?;
    Ok(results)
}

/// What is to be written for a check, or why nothing is.
fn plan<'a>(machine: &Machine, examined: &'a Examined) -> Result<Plan<'a>, FixResult> {
    let (check, diagnosis) = (examined.check, &examined.diagnosis);
    if diagnosis.state == State::Ok {
        return Err(FixResult { check: check.name, outcome: Outcome::Fine });
    }
    let settings = match &diagnosis.remedy {
        Remedy::Settings(settings) => settings.as_slice(),
        Remedy::Command(_) | Remedy::Advice(_) => {
            return Err(FixResult::left(machine, examined, "knee can't do that for you"));
        }
        Remedy::None if diagnosis.state == State::Unknown => {
            return Err(FixResult::left(machine, examined, &diagnosis.message));
        }
        Remedy::None => {
            return Err(FixResult::left(machine, examined, "nothing fixes it from here"));
        }
    };
    let mut was = Vec::new();
    for Setting { file, .. } in settings {
        let now = setting::current(machine, file);
        was.push(now.map_err(|Unknown(why)| FixResult::left(machine, examined, why))?);
        let path = machine.path(file);
        if let Err(error) = accessat(CWD, &path, Access::WRITE_OK, AtFlags::EACCESS) {
            let why = if machine.is_root {
                format!("{file} can't be written: {}", std::io::Error::from(error))
            } else {
                "only root may".to_owned()
            };
            return Err(FixResult::left(machine, examined, why));
        }
    }
    Ok(Plan { examined, settings, was })
}

fn save(machine: &Machine, saved: &mut SavedSettings, plan: &Plan) {
    for (setting, was) in plan.settings.iter().zip(&plan.was) {
        saved.add(Change {
            check: plan.examined.check.name.into(),
            file: setting.file.clone(),
            was: was.clone(),
            set: vec![setting.value.clone()],
            net: net(machine, &setting.file),
        });
    }
}

fn carry_out(machine: &Machine, plan: &Plan) -> FixResult {
    let mut changed = Vec::new();
    for (setting, was) in plan.settings.iter().zip(&plan.was) {
        let Setting { file, value } = setting;
        if let Err(error) = put(machine, file, value) {
            return FixResult::left(machine, plan.examined, error);
        }
        changed.push(Changed { file: file.clone(), was: was.clone(), now: value.clone() });
    }
    FixResult { check: plan.examined.check.name, outcome: Outcome::Changed(changed) }
}

/// Writes, and looks whether the kernel took it.
fn put(machine: &Machine, file: &str, value: &str) -> Result<(), String> {
    setting::write(machine, file, value).map_err(|error| format!("{file}: {error}"))?;
    match setting::current(machine, file) {
        Ok(now) if now == value => Ok(()),
        Ok(now) => Err(format!("the kernel made {now} of {value} in {file}")),
        Err(Unknown(why)) => Err(why),
    }
}

/// The network namespace that a setting belongs to.
fn net(machine: &Machine, file: &str) -> Option<String> {
    if file.starts_with("/proc/sys/net/") { machine.link("/proc/self/ns/net") } else { None }
}

fn is_as_it_was(machine: &Machine, change: &Change) -> bool {
    change.net == net(machine, &change.file)
        && setting::current(machine, &change.file).is_ok_and(|now| now == change.was)
}

/// What `--undo` did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoReport {
    /// Whether the machine was started anew since, and its settings with it.
    pub restarted: bool,
    /// Each setting, in the order in which they were put back.
    pub settings: Vec<UndoResult>,
}

/// What `--undo` did for one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoResult {
    /// The check's name.
    pub check: String,
    /// The kernel's file.
    pub file: String,
    /// What it held before knee changed it.
    pub was: String,
    /// What it held until now; absent where it can't be read.
    pub now: Option<String>,
    /// Why it was not put back; absent where it holds what was.
    pub left: Option<String>,
}

/// Puts back what is kept in `file`, the latest change first. What was changed by others since is
/// left alone unless `force` is set, and stays saved.
pub fn undo(machine: &Machine, file: &Path, force: bool) -> Result<UndoReport, Error> {
    if SavedSettings::load(file)?.is_none() {
        return Ok(UndoReport::default());
    }
    let _claim = Claim::new(file)?;
    let Some(mut saved) = SavedSettings::load(file)? else { return Ok(UndoReport::default()) };
    if saved.is_of_another_boot(machine) {
        saved.changes.clear();
        saved.save_rest(file)?;
        return Ok(UndoReport { restarted: true, settings: Vec::new() });
    }
    let mut undone = Vec::new();
    let mut rest = Vec::new();
    for change in saved.changes.iter().rev() {
        let result = put_back(machine, change, force);
        if result.left.is_some() {
            rest.insert(0, change.clone());
        }
        undone.push(result);
    }
    saved.changes = rest;
    saved.save_rest(file)?;
    Ok(UndoReport { restarted: false, settings: undone })
}

fn put_back(machine: &Machine, change: &Change, force: bool) -> UndoResult {
    let Change { check, file, was, set, .. } = change;
    let now = setting::current(machine, file);
    let left = match &now {
        _ if !setting::is_setting(file) => Some("that is no setting of the kernel".to_owned()),
        _ if change.net != net(machine, file) => {
            Some("it was changed in another network namespace: undo it there".to_owned())
        }
        Err(Unknown(why)) => Some(why.clone()),
        Ok(now) if now == was => None,
        Ok(now) if !force && !set.contains(now) => {
            Some(format!("it was changed to {now} since; --force puts {was} back"))
        }
        Ok(_) => put(machine, file, was).err(),
    };
    UndoResult { check: check.clone(), file: file.clone(), was: was.clone(), now: now.ok(), left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examine;
    use crate::fake::Fake;
    use crate::saved::state_file;

    const QUEUE: &str = "/proc/sys/net/core/somaxconn";
    const PORTS: &str = "/proc/sys/net/ipv4/ip_local_port_range";
    const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    const SMT: &str = "/sys/devices/system/cpu/smt/control";
    const BOOT: &str = "/proc/sys/kernel/random/boot_id";

    /// A machine with four things to fix, one of them only by name.
    fn sick() -> Fake {
        Fake::new()
            .with(BOOT, "first\n")
            .with(PORTS, "40000\t45000\n")
            .with(QUEUE, "128\n")
            .with(THP, "[always] madvise never\n")
            .with(SMT, "on\n")
    }

    fn fixed(fake: &Fake, names: &[&str]) -> Vec<FixResult> {
        let machine = fake.machine();
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        fix(&machine, &examine(&machine), &names, &state_file(&fake.record())).unwrap()
    }

    fn put_all_back(fake: &Fake, force: bool) -> UndoReport {
        undo(&fake.machine(), &state_file(&fake.record()), force).unwrap()
    }

    fn kept(fake: &Fake) -> Option<SavedSettings> {
        SavedSettings::load(&state_file(&fake.record())).unwrap()
    }

    fn values(fake: &Fake) -> [String; 4] {
        [PORTS, QUEUE, THP, SMT].map(|file| setting::current(&fake.machine(), file).unwrap())
    }

    const SICK: [&str; 4] = ["40000 45000", "128", "always", "on"];
    const WELL: [&str; 4] = ["1024 65535", "4096", "madvise", "on"];

    #[test]
    fn what_is_fixed_is_put_back_the_latest_first() {
        let fake = sick();
        let fixed = fixed(&fake, &[]);
        let names: Vec<&str> = fixed.iter().map(|result| result.check).collect();
        assert_eq!(names, ["ports", "somaxconn", "thp"], "in the tables' order, and not smt");
        assert_eq!(values(&fake), WELL);
        let report = put_all_back(&fake, false);
        let names: Vec<&str> = report.settings.iter().map(|result| result.check.as_str()).collect();
        assert_eq!(names, ["thp", "somaxconn", "ports"]);
        assert_eq!(values(&fake), SICK);
        assert!(kept(&fake).is_none(), "nothing is left to put back");
        assert_eq!(put_all_back(&fake, false), UndoReport::default());
    }

    #[test]
    fn only_what_is_named_is_fixed() {
        let fake = sick();
        fixed(&fake, &["smt"]);
        assert_eq!(values(&fake), ["40000 45000", "128", "always", "off"]);
        let fixed = fixed(&fake, &["smt", "descriptors", "hypervisor"]);
        let outcome =
            |name: &str| &fixed.iter().find(|result| result.check == name).unwrap().outcome;
        assert_eq!(*outcome("smt"), Outcome::Fine);
        assert!(matches!(outcome("descriptors"), Outcome::Left { .. }), "{fixed:?}");
        assert!(matches!(outcome("hypervisor"), Outcome::Left { .. }), "{fixed:?}");
    }

    #[test]
    fn after_two_fixes_the_first_state_is_what_was() {
        let fake = sick();
        fixed(&fake, &["somaxconn"]);
        fake.set(QUEUE, "64");
        fixed(&fake, &[]);
        assert_eq!(values(&fake), WELL);
        put_all_back(&fake, false);
        assert_eq!(values(&fake), SICK);
    }

    #[test]
    fn a_crash_before_between_or_behind_the_changes_is_undone_all_the_same() {
        // A crash after so many of the three changes: the others hold what they held.
        for done in 0..=3 {
            let fake = sick();
            fixed(&fake, &[]);
            for (file, was) in
                [(PORTS, SICK[0]), (QUEUE, SICK[1]), (THP, SICK[2])].iter().skip(done)
            {
                fake.set(file, was);
            }
            assert!(put_all_back(&fake, false).settings.iter().all(|result| result.left.is_none()));
            assert_eq!(values(&fake), SICK, "after {done}");
        }
    }

    #[test]
    fn a_crash_while_putting_back_is_gone_on_with() {
        let fake = sick();
        fixed(&fake, &[]);
        let file = state_file(&fake.record());
        let state = std::fs::read(&file).unwrap();
        put_all_back(&fake, false);
        // The state file goes last: it is still there after a crash, whatever was put back.
        fake.set(QUEUE, "4096");
        std::fs::write(&file, state).unwrap();
        put_all_back(&fake, false);
        assert_eq!(values(&fake), SICK);
    }

    #[test]
    fn the_state_is_on_the_disk_before_the_first_change() {
        let fake = sick();
        let (machine, file) = (fake.machine(), state_file(&fake.record()));
        // Nothing can be saved where a file stands in the place of the directory.
        fake.set("data/knee", "");
        assert!(fix(&machine, &examine(&machine), &[], &file).is_err());
        assert_eq!(values(&fake), SICK, "and so nothing was changed");
    }

    #[test]
    fn what_was_changed_since_is_left_unless_it_is_forced() {
        let fake = sick();
        fixed(&fake, &[]);
        fake.set(QUEUE, "999");
        let report = put_all_back(&fake, false);
        let left: Vec<&UndoResult> =
            report.settings.iter().filter(|result| result.left.is_some()).collect();
        assert_eq!(left.len(), 1, "{report:?}");
        assert!(left[0].left.as_ref().unwrap().contains("it was changed to 999"), "{left:?}");
        assert_eq!(values(&fake), ["40000 45000", "999", "always", "on"]);
        assert_eq!(kept(&fake).unwrap().changes.len(), 1, "it stays saved");
        put_all_back(&fake, true);
        assert_eq!(values(&fake), SICK);
        assert!(kept(&fake).is_none());
    }

    #[test]
    fn after_a_reboot_nothing_is_put_back() {
        let fake = sick();
        fixed(&fake, &[]);
        fake.set(BOOT, "second\n");
        assert!(put_all_back(&fake, false).restarted);
        assert_eq!(values(&fake), WELL);
        assert!(kept(&fake).is_none());
    }

    #[test]
    fn a_state_file_cannot_make_it_write_anything_but_settings() {
        let fake = sick();
        fixed(&fake, &["somaxconn"]);
        fake.set("/etc/passwd", "4096");
        let file = state_file(&fake.record());
        let state = std::fs::read_to_string(&file).unwrap().replace(QUEUE, "/etc/passwd");
        std::fs::write(&file, state).unwrap();
        assert!(put_all_back(&fake, true).settings[0].left.is_some());
        assert_eq!(fake.get("/etc/passwd"), "4096");
    }

    #[test]
    fn another_network_namespace_is_left_alone() {
        let fake = sick();
        let link = fake.directory.path().join("proc/self/ns/net");
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("net:[1]", &link).unwrap();
        fixed(&fake, &["somaxconn", "thp"]);
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("net:[2]", &link).unwrap();
        put_all_back(&fake, true);
        assert_eq!(values(&fake), ["40000 45000", "4096", "always", "on"]);
    }
}
