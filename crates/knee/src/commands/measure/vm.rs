//! `knee vm`: kernels booted with knee as their only program, measured in turns, and compared.

mod accelerator;
mod against;
mod checks;
mod consoles;
mod facts;
pub mod flags;
pub mod in_guest;
mod kernels;
mod labels;
mod root;
mod spinlocks;
mod turns;

use crate::commands::keep::push;
use crate::commands::measure::config;
use crate::commands::read::compare;
use crate::commands::read::compare::flags::{Compare, Output};
use crate::commands::read::fleet::FleetFlag;
use crate::commands::read::show::{self, Show};
use crate::commands::record_path;
use crate::exit::{Exit, Trouble, complain, note, stop_on_signals};
use crate::output::print_note;
use engine::{Scratch, Settings};
use flags::Vm;
use guest::{Accelerator, Hardware, Kernel, Machine, Xen};
use model::Run;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use turns::{Ground, GuestSide, Judge};

pub fn vm(vm: Vm) -> Result<Exit, Trouble> {
    let named = config::named(&vm.measured)?;
    let guests = named.as_ref().map(|named| named.suite.guests.clone());
    let vm = vm.or(guests.unwrap_or_default());
    let output = Output::from_run(&vm.measured);
    compare::check(&vm.judgement, &output)?;
    checks::check_measured(&vm.measured, named.as_ref())?;
    push::check(vm.measured.push.as_ref())?;
    let file = record_path(&output.record_file)?;
    let qemu = qemu_version(Machine::here().unwrap_or(Machine::X86))?;
    if vm.against.is_some() {
        return against::judge(vm, &output, &file, &qemu);
    }
    let mut sides = labels::labelled(hardware(&vm)?);
    let is_interrupted = measure(&vm, &mut sides, (&file, &qemu), None)?;
    let push = to_push(&vm, &sides);
    let record_file = output.record_file.clone();
    // Shown first: an archive may keep us waiting.
    let concluded = conclude(vm, output, &sides, &file, is_interrupted);
    let pushed = push.map_or(Exit::Done, |push| push.push(&record_file));
    concluded.map(|exit| if exit == Exit::Done { pushed } else { exit })
}

fn to_push(vm: &Vm, sides: &[GuestSide]) -> Option<push::Measured> {
    let runs = sides.iter().filter_map(|side| side.run.as_ref());
    let runs: Vec<(&Run, bool)> =
        runs.filter(|run| !run.cells.is_empty()).map(|run| (run, true)).collect();
    push::Measured::new(vm.measured.push.as_ref(), &runs)
}

/// Measures on all sides until a `judge` has enough; returns whether the user ended it.
fn measure(
    vm: &Vm,
    sides: &mut [GuestSide],
    (file, qemu): (&Path, &str),
    judge: Option<&dyn Judge>,
) -> Result<bool, Trouble> {
    let settings = Settings::new(engine::calibrate(), stop_on_signals()?);
    let hardware: Vec<&Hardware> = sides.iter().map(|side| &side.hardware).collect();
    checks::check_memory(&hardware)?;
    let name = format!("knee-vm-{}-{:08x}", std::process::id(), fastrand::u32(..));
    let directory = std::env::temp_dir().join(name);
    let failed = |what: &str, error: io::Error| Trouble::failed(format!("{what}: {error}"));
    let directory = Scratch::new(&directory).map_err(|error| failed("a directory", error))?;
    let named = config::named(&vm.measured)?;
    let knee = std::env::current_exe().map_err(|error| failed("finding this program", error))?;
    let initramfs = directory.path().join("root");
    let written =
        root::write(&knee, vm, named.as_ref(), (directory.path(), sides.len()), &initramfs);
    written.map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull => Trouble::not_possible(error.to_string()),
        _ => failed("the guests' root", error),
    })?;

    if let Some(image) = &vm.xen {
        let xen = below_xen(image, directory.path())?;
        for side in sides.iter_mut() {
            side.hardware.xen = Some(xen.clone());
        }
    }
    let words = words(vm);
    let host_cpus: Vec<usize> = match vm.on {
        None => Vec::new(),
        Some(on) => {
            sys::cpus::allowed().unwrap_or_default().into_iter().take(on as usize).collect()
        }
    };
    let mut ground = Ground {
        knee: &knee,
        initramfs: &initramfs,
        directory: directory.path(),
        host_cpus: &host_cpus,
        words: &words,
        facts: &BTreeMap::new(),
        settings: &settings,
        judge,
    };
    let accelerator = accelerator::choose(vm.accel, sides, &ground)?;
    let facts = facts::of_ground(vm, qemu, accelerator, &host_cpus);
    ground.facts = &facts;
    turns::measure(sides, &ground, file)?;
    Ok(ground.is_stopped())
}

/// Every combination of kernels, CPU models and command lines that was asked for, the first being the base.
fn hardware(vm: &Vm) -> Result<Vec<Hardware>, Trouble> {
    let or = |typed: &[String], default: &str| match typed {
        [] => vec![default.to_owned()],
        typed => typed.to_vec(),
    };
    let kernels = or(&vm.kernels, "installed");
    let kernels: Vec<Kernel> =
        kernels.iter().map(|typed| kernels::find("--kernel", typed)).collect::<Result<_, _>>()?;
    let (models, appends) = (or(&vm.cpu_models, "max"), or(&vm.appends, ""));
    let mut all = Vec::new();
    for kernel in &kernels {
        for cpu in &models {
            for append in &appends {
                let hardware = Hardware {
                    kernel: kernel.clone(),
                    cpus: vm.cpus(),
                    memory_mib: vm.memory_mib(),
                    cpu: cpu.clone(),
                    append: append.clone(),
                    accelerator: Accelerator::Tcg,
                    xen: None,
                };
                checks::check_command_line(&hardware)?;
                all.push(hardware);
            }
        }
    }
    Ok(all)
}

fn below_xen(image: &Path, directory: &Path) -> Result<Xen, Trouble> {
    let wrong = |error| Trouble::usage(format!("--xen {}: {error}", image.display()));
    Xen::unpack(image, directory).map_err(wrong)
}

fn qemu_version(machine: Machine) -> Result<String, Trouble> {
    guest::qemu_version(machine).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let package = match machine {
                Machine::X86 => "qemu-system-x86",
                Machine::Arm => "qemu-system-arm",
            };
            Trouble::not_possible(format!("knee vm needs QEMU: install the package {package}"))
        }
        _ => Trouble::failed(format!("QEMU can't be started: {error}")),
    })
}

/// Flags of what this machine does: a guest has the file of suites where it is looked for, and no archive.
const OF_THE_HOST: [&str; 2] = ["--config", "--push"];

/// What each guest measures. All draw by the same seed, so that their cells have the same order.
fn words(vm: &Vm) -> Vec<String> {
    let words = vm.run_words();
    let mut typed = words.iter().map(|word| word.to_string_lossy().into_owned());
    let mut words = Vec::new();
    while let Some(word) = typed.next() {
        let (flag, value) =
            word.split_once('=').map_or((word.as_str(), None), |(flag, value)| (flag, Some(value)));
        match (flag, value) {
            (flag, None) if OF_THE_HOST.contains(&flag) => _ = typed.next(),
            (flag, Some(_)) if OF_THE_HOST.contains(&flag) => {}
            _ => words.push(word),
        }
    }
    if vm.measured.seed.is_none() {
        words.push(format!("--seed={}", fastrand::u32(..)));
    }
    if vm.against.is_some() && vm.measured.rounds.is_none() {
        words.push(format!("--rounds={}", against::ROUNDS_MAX));
    }
    words
}

/// Shows what was measured: of one guest its answer, of several each compared with the first.
fn conclude(
    vm: Vm,
    output: Output,
    sides: &[GuestSide],
    file: &Path,
    is_stopped: bool,
) -> Result<Exit, Trouble> {
    let runs = sides.iter().filter_map(|side| side.run.as_ref());
    let measured: Vec<&Run> = runs.filter(|run| !run.cells.is_empty()).collect();
    let is_complete = sides.iter().all(GuestSide::is_complete);
    let numbers: Vec<String> = measured.iter().map(|run| run.summary.number.to_string()).collect();
    let is_for_programs = output.json || vm.judgement.markdown;
    let times: Vec<String> = sides.iter().filter_map(GuestSide::times).collect();
    let times: String = times.iter().flat_map(|times| ["Guest ", times, "\n"]).collect();
    let recorded = format!("{times}Record: {} ({})", file.display(), runs_named(&numbers));
    let exit = match numbers.as_slice() {
        [] if is_stopped => return Err(Trouble::interrupted("interrupted: nothing was measured")),
        [] => return Err(Trouble::failed("nothing was measured")),
        [only] => show::show(&Show {
            words: vec![only.clone()],
            all: output.all,
            json: output.json,
            record_file: output.record_file,
            ..Show::default()
        }),
        _ => compare::compare(&Compare {
            fleet: FleetFlag::default(),
            runs: numbers,
            baseline: None,
            across: true,
            judgement: vm.judgement,
            output,
        }),
    };
    if is_for_programs {
        recorded.lines().for_each(note);
    } else {
        print_note(&format!("{recorded}\n"))?;
    }
    if is_stopped {
        complain(
            "knee: interrupted; what was measured is kept. A guest is gone then: the same command measures all again",
        );
    }
    exit.map(|exit| if is_complete { exit } else { Exit::Interrupted })
}

/// `run 3`, `runs 3, 4 and 5`.
fn runs_named(numbers: &[String]) -> String {
    let noun = if numbers.len() == 1 { "run" } else { "runs" };
    format!("{noun} {}", findings::format::list(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{self, Command};

    #[test]
    fn a_guest_has_nothing_of_this_machines_files_and_archives() {
        let typed = "knee vm -- run --suite own --push postgres://me:secret@db/perf --rounds 3 --config=own.toml --seed=7";
        let typed: Vec<String> = typed.split(' ').map(str::to_owned).collect();
        let Command::Vm(vm) = args::parse(&typed).unwrap() else { panic!("{typed:?}") };
        assert!(vm.measured.push.is_some());
        assert_eq!(words(&vm), ["run", "--suite", "own", "--rounds", "3", "--seed=7"]);
    }
}
