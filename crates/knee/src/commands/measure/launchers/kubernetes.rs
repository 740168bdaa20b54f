//! Kubernetes: an indexed job. It does not tell its pods how many they are: `--of N` does.

use super::{Environment, Launcher, Position};

pub(super) const LAUNCHER: Launcher =
    Launcher { name: "kubernetes", command: "an indexed job", position };

fn position(environment: &Environment<'_>) -> Result<Option<Position>, String> {
    let Some(rank) = environment.number("JOB_COMPLETION_INDEX")? else { return Ok(None) };
    // The name of a pod of an indexed job: that of the job, and the index.
    let pod = environment.text("HOSTNAME");
    let job = pod.and_then(|pod| Some(pod.strip_suffix(&format!("-{rank}"))?.to_owned()));
    let job = job.filter(|job| !job.is_empty());
    Ok(Some(Position { rank, size: None, job, host: None }))
}
