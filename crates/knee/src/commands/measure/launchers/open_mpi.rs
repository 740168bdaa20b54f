//! Open MPI: `mpirun -n 8 knee run …`, and PRRTE under it.

use super::{Environment, Launcher, Position};

pub(super) const LAUNCHER: Launcher = Launcher { name: "open-mpi", command: "mpirun", position };

fn position(environment: &Environment<'_>) -> Result<Option<Position>, String> {
    let Some(rank) = environment.number("OMPI_COMM_WORLD_RANK")? else { return Ok(None) };
    let size = super::ranks(environment, "OMPI_COMM_WORLD_SIZE")?;
    let text = |name: &str| environment.text(name);
    let job = text("PMIX_NAMESPACE").or_else(|| text("OMPI_MCA_ess_base_jobid"));
    Ok(Some(Position { rank, size, job, host: None }))
}
