//! The figures and the conclusions of a run in one value, each sentence made.

use analysis::{Averages, Map, Table};
use findings::{Data, Kind, conclude};
use model::{Parameters, Run, Warning};

/// What was concluded from a run.
#[derive(Debug, PartialEq)]
pub struct Analysis {
    pub tables: Vec<Table>,
    pub maps: Vec<Map>,
    pub averages: Vec<Averages>,
    pub findings: Vec<Finding>,
    pub caveats: Vec<Warning>,
}

/// A finding with its sentence.
#[derive(Debug, PartialEq)]
pub struct Finding {
    pub kind: Kind,
    pub workload: String,
    pub parameters: Parameters,
    pub metric: String,
    pub subjects: Vec<String>,
    pub headline: bool,
    pub data: Data,
    pub sentence: String,
}

pub fn analyse(run: &Run) -> Analysis {
    let conclusions = conclude(run);
    let finding = |finding: &findings::Finding| Finding {
        kind: finding.data.kind(),
        workload: finding.workload.clone(),
        parameters: finding.parameters.clone(),
        metric: finding.metric.clone(),
        subjects: finding.subjects.clone(),
        headline: finding.headline,
        data: finding.data.clone(),
        sentence: finding.text().to_string(),
    };
    let findings = conclusions.findings.iter().map(finding).collect();
    let caveats = conclusions.caveats.iter().map(findings::Caveat::warning).collect();
    let analysis::Analysis { tables, maps, averages, .. } = conclusions.analysis;
    Analysis { tables, maps, averages, findings, caveats }
}
