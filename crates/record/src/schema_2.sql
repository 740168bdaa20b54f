-- Schema 2: trajectories. A cell may end before the far end of its axis and count all the same, and
-- the places of its samples are kept by their rule where they have one.

-- JSON object {"reached", "because", "remedy"}; NULL when the cell came to its end.
ALTER TABLE cell ADD COLUMN short TEXT;

DROP VIEW v_cell;
CREATE VIEW v_cell AS
SELECT run, sequence, workload, subject, conditions, point, round, outcome, reason, detail,
       json_extract(short, '$.reached') AS reached,
       json_extract(short, '$.because') AS because,
       elapsed_ns, user_ns, system_ns, switches_voluntary, switches_involuntary,
       faults_minor, faults_major, facts
FROM cell;

-- metric.positions is '[]', an array with one place a sample, or {"from", "step"}.
DROP VIEW v_sample;
CREATE VIEW v_sample AS
SELECT cell.run,
       cell.workload,
       cell.subject,
       cell.conditions,
       cell.point,
       cell.round,
       metric.name AS metric,
       sample.key AS n,
       CASE
           WHEN metric.positions = '[]' THEN cell.point
           WHEN json_type(metric.positions) = 'object'
               THEN json_extract(metric.positions, '$.from')
                    + sample.key * json_extract(metric.positions, '$.step')
           ELSE json_extract(metric.positions, '$[' || sample.key || ']')
       END AS position,
       sample.value AS value,
       metric_info.unit
FROM cell
JOIN metric ON metric.cell = cell.number
LEFT JOIN metric_info ON metric_info.run = cell.run
                     AND metric_info.workload = cell.workload
                     AND metric_info.metric = metric.name
JOIN json_each(metric.samples) AS sample
WHERE cell.outcome = 'measured';
