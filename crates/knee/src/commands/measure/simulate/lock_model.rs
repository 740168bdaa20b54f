//! The model: the flags as a machine, its locks and threads; and its cells, computed on all CPUs.

use super::flags::Lock;
use crate::commands::measure::progress::Progress;
use crate::exit::Trouble;
use engine::{Parameter, RunProgress, Watch, Workload};
use fastrand::Rng;
use model::{CellKey, Parameters, Value};
use simulate::{Algorithm, Figures, LEFT_OUT, Machine, TABLE, Work};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

const WORKLOAD: &str = "lock";
const AXIS: &str = "threads";

pub struct Model {
    pub workload: &'static dyn Workload,
    pub axis: &'static Parameter,
    pub machine: Machine,
    pub work: Work,
    pub algorithms: Vec<&'static Algorithm>,
    /// Whether no flag names any: then those left out are listed.
    pub all: bool,
    pub parameters: Parameters,
    pub threads: Vec<u64>,
    pub rounds: u32,
    pub seed: u64,
}

pub struct Simulated {
    pub key: CellKey,
    pub figures: Figures,
}

impl Model {
    pub fn new(ask: &Lock) -> Result<Model, Trouble> {
        let missing = || Trouble::failed(format!("there is no workload {WORKLOAD}"));
        let workload = workloads::find(WORKLOAD).ok_or_else(missing)?;
        let axis = workload.about().parameter(AXIS).ok_or_else(missing)?;
        let parameters = parameters(workload, ask)?;
        let number = |name: &str| parameters.get(name).and_then(Value::number);
        let model = Model {
            machine: machine(ask, number("cpus").unwrap_or(1))?,
            work: Work {
                held_ns: ask.held_ns,
                outside_ns: ask.outside_ns,
                spins: number("spins").and_then(|spins| spins.try_into().ok()).unwrap_or(u32::MAX),
                time_ns: ask.time.as_nanos() as u64,
                ..Work::default()
            },
            threads: threads(axis, ask, &parameters)?,
            algorithms: algorithms(ask)?,
            all: ask.algorithms.is_empty(),
            rounds: ask.rounds,
            seed: ask.seed,
            workload,
            axis,
            parameters,
        };
        Ok(model)
    }

    pub fn cells(&self) -> Result<Vec<Simulated>, Trouble> {
        let keys: Vec<CellKey> = self.keys();
        let (keys, next) = (&keys, &AtomicUsize::new(0));
        let (done, results) = mpsc::channel();
        let mut progress = Progress::new(keys.len() as u64);
        let mut all: Vec<Option<Figures>> = vec![None; keys.len()];
        let worker = |done: mpsc::Sender<(usize, Result<Figures, Trouble>)>| {
            let indices = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            for (index, key) in indices.map_while(|index| Some((index, keys.get(index)?))) {
                // The receiver is gone once a cell can't be simulated.
                if done.send((index, self.figures(key))).is_err() {
                    break;
                }
            }
        };
        let computed: Result<(), Trouble> = thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                let done = done.clone();
                let started = thread::Builder::new().spawn_scoped(scope, move || worker(done));
                started.map_err(Trouble::no_thread)?;
            }
            drop(done);
            let begun = Instant::now();
            let total = keys.len() as u64;
            for (done, (index, figures)) in (1..).zip(results) {
                all[index] = Some(figures?);
                let left = begun.elapsed().mul_f64((total - done) as f64 / done as f64);
                let so_far = RunProgress { is_profile: false, done, total, left: Some(left) };
                progress.begins(0, &keys[index], &so_far);
            }
            Ok(())
        });
        progress.done();
        computed?;
        let cells = keys.iter().cloned().zip(all);
        Ok(cells.filter_map(|(key, figures)| Some(Simulated { key, figures: figures? })).collect())
    }

    fn keys(&self) -> Vec<CellKey> {
        let mut keys = Vec::new();
        for round in 0..self.rounds {
            for algorithm in &self.algorithms {
                keys.extend(self.threads.iter().map(|&point| CellKey {
                    workload: WORKLOAD.into(),
                    subject: algorithm.name.into(),
                    parameters: self.parameters.clone(),
                    point,
                    round,
                }));
            }
        }
        keys
    }

    /// The figures of a cell. All locks of a point and round have the same seed.
    fn figures(&self, key: &CellKey) -> Result<Figures, Trouble> {
        let mut drawn = Rng::with_seed(self.seed);
        let mut drawn = Rng::with_seed(drawn.u64(..) ^ key.point);
        let mut drawn = Rng::with_seed(drawn.u64(..) ^ u64::from(key.round));
        let threads = u32::try_from(key.point).unwrap_or(u32::MAX);
        let work = Work { threads, seed: drawn.u64(..), ..self.work };
        let mut rows = self.algorithms.iter().filter(|row| row.name == key.subject);
        let missing = || Trouble::failed(format!("there is no lock {}", key.subject));
        let algorithm = rows.next().ok_or_else(missing)?;
        let figures = simulate::simulate(&self.machine, &work, algorithm);
        figures.map_err(|wrong| Trouble::usage(wrong.to_string()))
    }
}

fn machine(ask: &Lock, cpus: u64) -> Result<Machine, Trouble> {
    let too_many = |_| Trouble::usage(format!("--cpus: {cpus} CPUs are more than a machine has"));
    let costs = &ask.costs;
    Ok(Machine {
        cpus: u32::try_from(cpus).map_err(too_many)?,
        slice_ns: ask.slice,
        switch_ns: costs.switch_ns,
        wake_ns: costs.wake_ns,
        call_ns: costs.call_ns,
        atomic_ns: costs.atomic_ns,
        transfer_ns: costs.transfer_ns,
        look_ns: costs.look_ns,
    })
}

/// The parameters of the series, as a measured run would have them.
fn parameters(workload: &dyn Workload, ask: &Lock) -> Result<Parameters, Trouble> {
    let mut all = Parameters::new();
    for parameter in workload.about().parameters.iter().filter(|parameter| parameter.name != AXIS) {
        let value = match parameter.name {
            "cpus" => ask.cpus.unwrap_or_else(cpus_here).into(),
            "held" => ask.held_ns.into(),
            "outside" => ask.outside_ns.into(),
            "spins" => ask.spins.into(),
            _ => parameter.read(parameter.default.full.first().unwrap_or(&"")),
        };
        let value = parameter.check(&value, parameter.name).map_err(Trouble::usage)?;
        all.insert(parameter.name.to_owned(), value);
    }
    Ok(all)
}

fn cpus_here() -> u64 {
    sys::cpus::allowed().map_or(1, |cpus| cpus.len() as u64)
}

fn threads(axis: &Parameter, ask: &Lock, all: &Parameters) -> Result<Vec<u64>, Trouble> {
    let mut points = Vec::new();
    for value in &ask.threads {
        let value = axis.check(value, AXIS).map_err(Trouble::usage)?;
        points.extend(axis.number(&value, all));
    }
    points.sort_unstable();
    points.dedup();
    Ok(points)
}

fn algorithms(ask: &Lock) -> Result<Vec<&'static Algorithm>, Trouble> {
    for (name, reason) in LEFT_OUT {
        if ask.algorithms.iter().any(|named| named == name) {
            return Err(Trouble::usage(format!("{name} can't be simulated: {reason}")));
        }
    }
    let is_meant = |row: &&Algorithm| {
        ask.algorithms.is_empty() || ask.algorithms.iter().any(|name| name == row.name)
    };
    Ok(TABLE.iter().filter(is_meant).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, parse};
    use crate::commands::measure::simulate::What;

    fn model(words: &[&str]) -> Model {
        let words = [&["knee", "simulate", "lock"], words].concat();
        let Ok(Command::Simulate(ask)) = parse(&words) else { panic!("{words:?}") };
        let What::Lock(lock) = &ask.what;
        Model::new(lock).unwrap_or_else(|trouble| panic!("{trouble}"))
    }

    #[test]
    fn what_the_flags_leave_open_is_as_the_model_has_it() {
        let plain = model(&["--cpus", "2"]);
        assert_eq!(plain.machine, Machine::default());
        assert_eq!(Work { time_ns: 0, ..plain.work }, Work { time_ns: 0, ..Work::default() });
        assert_eq!(plain.threads, [1, 2, 4, 8, 16, 32]);
        assert_eq!(plain.algorithms.len(), TABLE.len());
    }

    #[test]
    fn rounds_draw_differently_and_locks_of_a_round_alike() {
        let few = ["--cpus", "2", "--threads", "4", "--rounds", "2", "--time", "5ms"];
        let cells = model(&[&few[..], &["--algorithm", "pthread-spin,byte"]].concat()).cells();
        let cells = cells.unwrap_or_else(|trouble| panic!("{trouble}"));
        let [byte, spin, byte_again, _] = cells.as_slice() else { panic!("{}", cells.len()) };
        assert_eq!(
            (byte.key.subject.as_str(), spin.key.subject.as_str()),
            ("byte", "pthread-spin")
        );
        assert_eq!(byte.figures, spin.figures);
        assert_ne!(byte.figures, byte_again.figures);
    }
}
