//! How many CPUs a cell has: a parameter that workloads share, and what keeps a cell to them.

use engine::{Cell, Defaults, Failure, Fit, LimitCause, Parameter, Ratio, Sweep, Values};
use sys::cpus;

/// One CPU for all, unless more are asked for. On two, a figure also depends on where the scheduler put
/// each thread, which stays so for a round.
pub(crate) const ONE: Parameter = Parameter {
    name: "cpus",
    about: "number of CPUs that the whole cell runs on",
    values: Values::Cpus,
    default: Defaults::always(&["1"]),
    sweep: None,
};

/// All that the run may use, unless fewer are asked for.
pub(crate) const ALL: Parameter = Parameter {
    default: Defaults::always(&["all"]),
    sweep: Some(Sweep { label: "CPUs", points: Defaults::always(&["all"]) }),
    ..ONE
};

/// So many of `part` for each CPU.
pub(crate) fn per_cpu(part: &str) -> Ratio {
    let [part, whole, word] = [part, ONE.name, "per CPU"].map(String::from);
    Ratio { part, whole, word, multiple: true }
}

/// That a cell has at most so many of the threads that `parameter` counts, where more say nothing new.
pub(crate) fn threads_at_most(cell: &Cell, parameter: &Parameter, max: u64) -> Fit {
    if cell.number(parameter.name).unwrap_or(0) <= max {
        return Fit::Measure;
    }
    let cause = LimitCause::Other { clause: "more threads say nothing that these don't".into() };
    Fit::AtMost { parameter: parameter.name, max, cause, remedy: String::new() }
}

/// The CPUs that this process may use, ascending.
pub(crate) fn allowed() -> Result<Vec<usize>, Failure> {
    cpus::allowed().map_err(|error| Failure::call("asking which CPUs there are", error))
}

/// Takes this thread, and what it starts from now on, to as many CPUs as the cell has: to the last ones,
/// since the first ones serve most interrupts. Says which they are; none where that is all of them, and
/// the scheduler places as it always does.
pub(crate) fn choose(cell: &Cell) -> Result<Vec<usize>, Failure> {
    let all = allowed()?;
    let chosen = last_of(&all, cell.number(ONE.name)? as usize)?;
    if chosen.len() == all.len() {
        return Ok(Vec::new());
    }
    stay_on(&chosen)?;
    Ok(chosen)
}

/// The last `wanted` of `cpus`.
pub(crate) fn last_of(cpus: &[usize], wanted: usize) -> Result<Vec<usize>, Failure> {
    let Some(first) = cpus.len().checked_sub(wanted) else {
        return Err(Failure::new(format!("{wanted} CPUs, and there are {}", cpus.len())));
    };
    Ok(cpus[first..].to_vec())
}

/// Keeps this thread to these CPUs.
pub(crate) fn stay_on(cpus: &[usize]) -> Result<(), Failure> {
    cpus::pin(cpus).map_err(|error| Failure::call("pinning to CPUs", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_on_the_last_of_its_cpus() {
        let cell = |cpus: usize| Cell {
            parameters: [("cpus".to_owned(), (cpus as u64).into())].into(),
            ..Cell::default()
        };
        std::thread::spawn(move || {
            let all = allowed().unwrap();
            assert!(choose(&cell(all.len())).unwrap().is_empty());
            assert_eq!(allowed().unwrap(), all);
            let last = &all[all.len() - 1..];
            let chosen = choose(&cell(1)).unwrap();
            assert!(chosen == last || all.len() == 1, "{chosen:?}");
            assert_eq!(allowed().unwrap(), last);
            let refused = choose(&cell(2)).unwrap_err().to_string();
            assert_eq!(refused, "2 CPUs, and there are 1");
        })
        .join()
        .unwrap();
    }
}
