-- Schema 3: histograms. Where the samples of a metric are quantiles, all operations are kept beside them.

-- HdrHistogram V2, deflated, base 64; '' where there is none.
ALTER TABLE metric ADD COLUMN histogram TEXT NOT NULL DEFAULT '';

DROP VIEW v_metric;
CREATE VIEW v_metric AS
SELECT cell.run,
       cell.sequence,
       cell.workload,
       cell.subject,
       cell.conditions,
       cell.point,
       cell.round,
       metric.name AS metric,
       metric_info.unit,
       metric_info.lower_is_better,
       metric_info.about,
       json_array_length(metric.samples) AS samples,
       metric.operations,
       metric.user_ns,
       metric.system_ns,
       metric.switches_voluntary,
       metric.switches_involuntary,
       metric.faults_minor,
       metric.faults_major,
       metric.histogram
FROM cell
JOIN metric ON metric.cell = cell.number
LEFT JOIN metric_info ON metric_info.run = cell.run
                     AND metric_info.workload = cell.workload
                     AND metric_info.metric = metric.name
WHERE cell.outcome = 'measured';
