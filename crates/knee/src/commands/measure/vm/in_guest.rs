//! What this program does in a guest: it plans as `knee run` does, and measures the cells that the host asks for.

use super::spinlocks;
use crate::args::{self, Command};
use crate::commands::measure::run;
use crate::exit::{Trouble, stop_on_signals};
use engine::{Instrument, Settings, Starter};
use guest::{FromGuest, Job, Machine, ToGuest, WireFault, mishaps_here, receive, send};
use model::{CellKey, Profile, Run};
use rustix::fs::{Mode, OFlags, open};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use rustix::time::{ClockId, Timespec, clock_settime};
use std::fs::File;
use std::io;
use std::time::Duration;

/// The maximum time of looking up the functions of a worker that hangs: an emulated machine takes a second or two to list
/// those of its kernel, and more where a worker that can't be halted has its CPUs. The host waits longer.
const LOOKUP_MAX: Duration = Duration::from_secs(30);

pub fn main() -> io::Result<()> {
    let mut port = wire()?;
    let failed = |fault: WireFault| io::Error::other(fault.to_string());
    send(&mut port, &FromGuest::Up).map_err(failed)?;
    let ToGuest::Job(job) = receive(&mut port).map_err(failed)? else {
        return Err(io::Error::other("the host sent no job"));
    };
    let is_resumed = job.resumed.is_some();
    let (run, settings) = match begun(*job) {
        Ok(begun) => begun,
        Err(trouble) => {
            let (line, exit) = (trouble.to_string(), trouble.exit.code());
            return send(&mut port, &FromGuest::Refused { line, exit }).map_err(failed);
        }
    };
    if !is_resumed {
        send(&mut port, &FromGuest::Begin(Box::new(run.clone()))).map_err(failed)?;
    }
    measure(run, &settings, &mut port).map_err(failed)
}

/// The guest's end of the wire, which passes every byte as it is.
fn wire() -> io::Result<File> {
    let path = Machine::here().ok_or(io::ErrorKind::Unsupported)?.wire_device();
    let port = open(path, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())
        .map_err(|errno| io::Error::other(format!("{path}: {errno}")))?;
    let mut terminal = tcgetattr(&port)?;
    terminal.make_raw();
    tcsetattr(&port, OptionalActions::Now, &terminal)?;
    Ok(File::from(port))
}

fn begun(job: Job) -> Result<(Run, Settings), Trouble> {
    // Where the guest has a clock of its own, it is no less right.
    let now = Timespec { tv_sec: job.time_s.cast_signed(), tv_nsec: 0 };
    let _ = clock_settime(ClockId::Realtime, now);
    let stop = stop_on_signals()?;
    let words: Vec<String> = std::iter::once("knee".to_owned()).chain(job.words).collect();
    let Command::Run(asked) = args::parse(&words)? else {
        return Err(Trouble::usage("a guest measures only what `knee run` does"));
    };
    let mut settings = Settings::new(engine::calibrate(), stop);
    settings.lookup_max = LOOKUP_MAX;
    let (plan, secrets) = run::planned(&asked)?;
    settings.secrets = secrets;
    if let Some(run) = job.resumed {
        return Ok((run, settings));
    }
    let mut run = run::new_run(&asked, plan, words, &settings.clock);
    run.host_before.facts.extend(spinlocks::facts());
    run.summary.labels = run::labels::labels(&asked.labels)?;
    Ok((run, settings))
}

/// Measures what the host asks for, until it needs nothing more.
fn measure(mut run: Run, settings: &Settings, port: &mut File) -> Result<(), WireFault> {
    let mut workers = Starter::default();
    loop {
        let answer = match receive(port)? {
            ToGuest::Measure(sequence) => {
                workers.measure(&run, sequence, settings).map(|(cell, _)| {
                    // A profile samples by what its cells took.
                    if run.plan.profile.is_some() {
                        run.cells.push(cell.clone());
                    }
                    FromGuest::Cell(Box::new(cell))
                })
            }
            ToGuest::Profile(key) => profiled(&mut run, &key, settings, &mut workers),
            ToGuest::Finish => {
                let host_after = Box::new(engine::host());
                return send(port, &FromGuest::Finish { host_after, mishaps: mishaps_here() });
            }
            ToGuest::Job(_) => return Err(WireFault::Damaged("a second job".to_owned())),
        };
        // Without an answer a signal ended it.
        let Some(answer) = answer else { return Ok(()) };
        send(port, &answer)?;
    }
}

fn profiled(
    run: &mut Run,
    key: &CellKey,
    settings: &Settings,
    workers: &mut Starter,
) -> Option<FromGuest> {
    let Profile { frames, stacks, code, .. } = &run.profile;
    let sent = [frames.len(), stacks.len(), code.len()];
    let cell = workers.profile(run, key, settings)?;
    run.profile.cells.push(cell.clone());
    let Profile { frames, stacks, code, .. } = &run.profile;
    Some(FromGuest::Profiled(Box::new(Profile {
        frames: frames[sent[0]..].to_vec(),
        stacks: stacks[sent[1]..].to_vec(),
        code: code[sent[2]..].to_vec(),
        cells: vec![cell],
    })))
}
