//! Slurm: `srun -N 8 knee run …`. A batch script itself runs once, whatever was allocated: it has no step.

use super::{Environment, Launcher, Position};

pub(super) const LAUNCHER: Launcher = Launcher { name: "slurm", command: "srun", position };

fn position(environment: &Environment<'_>) -> Result<Option<Position>, String> {
    let text = |name: &str| environment.text(name);
    let (Some(job), Some(step)) = (text("SLURM_JOB_ID"), text("SLURM_STEP_ID")) else {
        return Ok(None);
    };
    let Some(rank) = environment.number("SLURM_PROCID")? else { return Ok(None) };
    // A step may have fewer tasks than its job.
    let of_step = super::ranks(environment, "SLURM_STEP_NUM_TASKS")?;
    let size =
        of_step.map_or_else(|| super::ranks(environment, "SLURM_NTASKS"), |size| Ok(Some(size)))?;
    let cluster = text("SLURM_CLUSTER_NAME").map(|name| format!("{name}-")).unwrap_or_default();
    let job = Some(format!("{cluster}{job}.{step}"));
    Ok(Some(Position { rank, size, job, host: text("SLURMD_NODENAME") }))
}
