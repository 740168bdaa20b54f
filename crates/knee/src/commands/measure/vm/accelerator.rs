//! What runs the guests: KVM where it runs a kernel here, else emulation.
//!
//! A KVM that runs a few instructions may still hang every kernel, as below some hypervisors. So the first guest is
//! booted by it, and stays where it comes up. Where its kernel ends by itself, the next guest is tried.

use super::flags::Accel;
use super::turns::{Ground, GuestSide};
use crate::commands::measure::progress::Progress;
use crate::exit::{Trouble, note};
use guest::{Accelerator, GuestFault, LineKind};
use std::time::Duration;

/// With KVM a guest is up within three seconds, and within this on a machine that is busy.
const TRIAL_MAX: Duration = Duration::from_secs(30);

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
            Err(NoKvm::Host(line)) => return Err(Trouble::failed(line)),
            Err(NoKvm::Unfit(why)) => {
                if !ground.is_stopped() {
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

#[derive(Debug, PartialEq, Eq)]
enum NoKvm {
    /// It is not there, or runs no kernel.
    Unfit(String),
    /// This machine can't start QEMU, whatever runs its guests.
    Host(String),
}

/// Whether KVM runs one of the guests, which is up then; or why not.
fn kvm_runs(sides: &mut [GuestSide], ground: &Ground<'_>) -> Result<(), NoKvm> {
    guest::kvm_works(ground.knee, ground.directory)
        .map_err(|why| NoKvm::Unfit(format!("KVM does not work here ({why})")))?;
    let progress = Progress::new(1);
    let boots = sides.iter_mut().take_while(|_| !ground.is_stopped()).map(|side| {
        progress.at(0, &format!("booting {} by KVM", side.label));
        side.hardware.accelerator = Accelerator::Kvm;
        let booted = side.boot(ground, TRIAL_MAX);
        if booted.is_err() {
            side.put_back();
        }
        booted
    });
    let verdict = verdict(boots);
    progress.done();
    verdict
}

/// What the boots of kernels by KVM say of KVM, of which no more are made than are needed. A kernel that panics has run,
/// and is booted again as any other.
fn verdict(boots: impl IntoIterator<Item = Result<(), GuestFault>>) -> Result<(), NoKvm> {
    let unfit = |why: String| NoKvm::Unfit(format!("KVM runs no kernel here ({why})"));
    let (mut last, mut has_run) = (None, false);
    for booted in boots {
        match booted {
            Ok(()) => return Ok(()),
            // It can't be a guest, whatever runs it.
            Err(fault) if fault.is_of_kernel() => return Ok(()),
            Err(fault @ GuestFault::Host(_)) => return Err(NoKvm::Host(fault.to_string())),
            Err(GuestFault::Late(patience, _) | GuestFault::Silent(patience)) => {
                let what = format!("a guest is not up within {} s", patience.as_secs());
                return Err(unfit(what));
            }
            Err(GuestFault::Stopped(line)) => return Err(unfit(line)),
            Err(fault) => {
                has_run |= has_panicked(&fault);
                last = Some(fault);
            }
        }
    }
    match last {
        Some(fault) if !has_run => Err(unfit(fault.to_string())),
        _ => Ok(()),
    }
}

fn has_panicked(fault: &GuestFault) -> bool {
    match fault {
        GuestFault::Ended(console) | GuestFault::Damaged(_, console) => {
            console.kind == LineKind::Panic
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guest::Console;

    fn panic(line: &str) -> GuestFault {
        GuestFault::Ended(Console::from_text(line))
    }

    const FATAL: &str = "Kernel panic - not syncing: Fatal exception";

    #[test]
    fn kvm_is_taken_only_where_a_kernel_runs_by_it() {
        let rootless = "Kernel panic - not syncing: VFS: Unable to mount root fs on x";
        for runs in [Ok(()), Err(panic(rootless)), Err(panic("knee-init-failed: no tmpfs"))] {
            assert_eq!(verdict([runs]), Ok(()));
        }
        let unfit = |why: &str| Err(NoKvm::Unfit(format!("KVM runs no kernel here ({why})")));
        // A guest that hangs or is stopped is the last that is tried.
        let alone = |fault: GuestFault| {
            verdict([Err(fault)].into_iter().chain(std::iter::from_fn(|| panic!("one more"))))
        };
        assert_eq!(alone(GuestFault::Silent(TRIAL_MAX)), unfit("a guest is not up within 30 s"));
        let probing = Console::from_text("Probing EDD (edd=off to disable)... ok");
        let late = GuestFault::Late(TRIAL_MAX, probing);
        assert_eq!(alone(late), unfit("a guest is not up within 30 s"));
        let line = "KVM internal error. Suberror: 1";
        assert_eq!(alone(GuestFault::Stopped(line.into())), unfit(line));
        let refused = || GuestFault::Refused("the CPU lacks a feature".into());
        let oops = panic("BUG: unable to handle page fault");
        for fault in [refused(), GuestFault::Mute, oops] {
            let why = fault.to_string();
            assert_eq!(verdict([Err(refused()), Err(fault)]), unfit(&why));
        }
    }

    #[test]
    fn a_kernel_that_ends_by_itself_leaves_kvm_to_the_next() {
        let refused = || GuestFault::Refused("the CPU lacks a feature".into());
        for fault in [panic(FATAL), refused(), GuestFault::Mute] {
            assert_eq!(verdict([Err(fault), Ok(())]), Ok(()));
        }
        // It ran as far as its own panic.
        assert_eq!(verdict([Err(panic(FATAL))]), Ok(()));
        assert_eq!(verdict([Err(refused()), Err(panic(FATAL))]), Ok(()));
    }

    #[test]
    fn a_machine_that_starts_no_qemu_says_nothing_of_kvm() {
        let full = || GuestFault::Host("No space left on device".into());
        for boots in [vec![Err(full())], vec![Err(panic(FATAL)), Err(full())]] {
            let line = full().to_string();
            assert_eq!(verdict(boots), Err(NoKvm::Host(line)));
        }
    }
}
