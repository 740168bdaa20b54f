//! What this program does in a guest: it measures as `knee run` does, and hands each cell to the host.

use super::spinlocks;
use crate::args::{self, Command};
use crate::commands::measure::run;
use crate::exit::{Trouble, stop_on_signals};
use archive::RunWriter;
use engine::{Settings, Side, Starter, Watch};
use guest::{FromGuest, Job, Machine, ToGuest, WireWriter, receive, send};
use model::Run;
use rustix::fs::{Mode, OFlags, open};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use rustix::time::{ClockId, Timespec, clock_settime};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The maximum time of looking up the functions of a worker that hangs: an emulated machine takes a second or two to list
/// those of its kernel, and more where a worker that can't be halted has its CPUs. The host waits longer.
const LOOKUP_MAX: Duration = Duration::from_secs(30);

pub fn main() -> io::Result<()> {
    let mut port = wire()?;
    let failed = |fault: guest::WireFault| io::Error::other(fault.to_string());
    send(&mut port, &FromGuest::Up).map_err(failed)?;
    let ToGuest::Job(job) = receive(&mut port).map_err(failed)? else {
        return Err(io::Error::other("the host sent no job"));
    };
    if let Err(trouble) = measure(*job, port.try_clone()?) {
        let refused = FromGuest::Refused { line: trouble.to_string(), exit: trouble.exit.code() };
        send(&mut port, &refused).map_err(failed)?;
    }
    Ok(())
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

fn measure(job: Job, port: File) -> Result<(), Trouble> {
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
    let mut writer = WireWriter::new(port, Arc::clone(&settings.stop.requested));
    let mut run: Run = if let Some(run) = job.resumed {
        writer = writer.going_on(&run.profile);
        run
    } else {
        let (plan, secrets) = run::planned(&asked)?;
        settings.secrets = secrets;
        let mut run = run::new_run(&asked, plan, words, &settings.clock);
        run.host_before.facts.extend(spinlocks::facts());
        run.summary.labels = run::labels::labels(&asked.labels)?;
        run.summary.number = writer.begin(&run)?;
        run
    };
    let judge = |run: &Run| analysis::trust::by_cell(run);
    let (run, archive) = (&mut run, Some::<&mut dyn RunWriter>(&mut writer));
    let side = Side { run, archive, starter: Starter::default(), judge: Some(&judge) };
    // What the host could not keep, the host says.
    let _ = engine::run([side], &settings, &mut Silence);
    Ok(())
}

/// The host shows how far a run has come.
struct Silence;

impl Watch for Silence {}
