//! What runs the guests: KVM where it runs a kernel here, else emulation.
//!
//! A KVM that runs a few instructions may still hang every kernel, as below some hypervisors. So the first guest is
//! booted by it, and stays where it comes up.

use super::flags::Accel;
use super::turns::{Ground, GuestSide};
use crate::exit::{Trouble, note};
use crate::progress::Progress;
use guest::{Accelerator, GuestFault};
use std::time::Duration;

/// With KVM a guest is up within three seconds, and within this on a machine that is busy.
const TRIAL_MAX: Duration = Duration::from_secs(30);

/// What runs the guests of all `sides`, which are set to it.
pub fn choose(
    accel: Accel,
    sides: &mut [GuestSide],
    ground: &Ground<'_>,
) -> Result<Accelerator, Trouble> {
    let accelerator = match accel {
        Accel::Tcg => Accelerator::Tcg,
        Accel::Kvm => match guest::kvm_works(ground.knee, ground.directory) {
            Ok(()) => Accelerator::Kvm,
            Err(why) => {
                let what = format!("--accel kvm: {why}; --accel tcg emulates");
                return Err(Trouble::not_possible(what));
            }
        },
        Accel::Auto => match kvm_runs(sides, ground) {
            Ok(()) => Accelerator::Kvm,
            Err(why) => {
                if !ground.stop.is_requested() {
                    note(&format!("knee: {why}: the guests are emulated, and only ratios count"));
                }
                Accelerator::Tcg
            }
        },
    };
    for side in sides {
        side.hardware.accelerator = accelerator;
    }
    Ok(accelerator)
}

/// Whether KVM runs the first of the guests, which is up then; or why not.
fn kvm_runs(sides: &mut [GuestSide], ground: &Ground<'_>) -> Result<(), String> {
    guest::kvm_works(ground.knee, ground.directory)
        .map_err(|why| format!("KVM does not work here ({why})"))?;
    let Some(first) = sides.first_mut() else { return Ok(()) };
    let progress = Progress::new(1);
    progress.at(0, &format!("booting {} by KVM", first.label));
    first.hardware.accelerator = Accelerator::Kvm;
    let booted = first.boot(ground, TRIAL_MAX);
    progress.done();
    if booted.is_err() {
        first.put_back();
    }
    verdict(booted)
}

/// What the boot of a kernel by KVM says of KVM.
fn verdict(booted: Result<(), GuestFault>) -> Result<(), String> {
    let why = match booted {
        Ok(()) => return Ok(()),
        // It can't be a guest, whatever runs it.
        Err(fault) if fault.is_of_kernel() => return Ok(()),
        Err(GuestFault::Late(patience, _) | GuestFault::Silent(patience)) => {
            format!("the first guest is not up within {} s", patience.as_secs())
        }
        Err(GuestFault::Stopped(line)) => line,
        Err(fault) => fault.to_string(),
    };
    Err(format!("KVM runs no kernel here ({why})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use guest::Console;

    #[test]
    fn kvm_is_taken_only_where_a_kernel_runs_by_it() {
        let panic = |line: &str| GuestFault::Ended(Console::from_text(line));
        let rootless = "Kernel panic - not syncing: VFS: Unable to mount root fs on x";
        for runs in [Ok(()), Err(panic(rootless)), Err(panic("knee-init-failed: no tmpfs"))] {
            assert_eq!(verdict(runs), Ok(()));
        }
        let why = |fault: GuestFault| verdict(Err(fault)).unwrap_err();
        assert_eq!(
            why(GuestFault::Silent(TRIAL_MAX)),
            "KVM runs no kernel here (the first guest is not up within 30 s)"
        );
        assert_eq!(
            why(GuestFault::Stopped("KVM internal error. Suberror: 1".into())),
            "KVM runs no kernel here (KVM internal error. Suberror: 1)"
        );
        for fault in [
            GuestFault::Late(
                TRIAL_MAX,
                Console::from_text("Probing EDD (edd=off to disable)... ok"),
            ),
            panic("Kernel panic - not syncing: Fatal exception"),
            GuestFault::Refused("the CPU lacks a feature".into()),
            GuestFault::Mute,
        ] {
            assert!(why(fault).starts_with("KVM runs no kernel here ("));
        }
    }
}
