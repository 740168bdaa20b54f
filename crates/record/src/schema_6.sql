-- Schema 6: reasons are data. A failed cell keeps its reason as an object beside its sentence, and what can
-- be varied is called a parameter.

-- JSON object of `kind`, its data and `text`; NULL where the cell was measured or an older knee kept it.
ALTER TABLE cell ADD COLUMN failure TEXT;
-- v_metric and v_sample follow by themselves.
ALTER TABLE cell RENAME COLUMN conditions TO parameters;

-- The table says 'void' for a failed cell, as schema 1 did: seals are over that word. Views say 'failed'.
DROP VIEW v_cell;
CREATE VIEW v_cell AS
SELECT run, sequence, workload, subject, parameters, point, round,
       CASE outcome WHEN 'void' THEN 'failed' ELSE outcome END AS outcome,
       reason, failure, detail,
       json_extract(short, '$.reached') AS reached,
       json_extract(short, '$.because') AS because,
       elapsed_ns, user_ns, system_ns, switches_voluntary, switches_involuntary,
       faults_minor, faults_major, facts
FROM cell;

DROP VIEW v_run;
CREATE VIEW v_run AS
SELECT run.number AS run,
       run.id,
       run.started,
       run.ended,
       run.state,
       (SELECT count(*) FROM cell WHERE cell.run = run.number) AS cells_ended,
       (SELECT count(*) FROM cell WHERE cell.run = run.number AND cell.outcome = 'void') AS cells_failed,
       run.cells_planned,
       run.version,
       run.command,
       json_extract(run.plan, '$.rounds') AS rounds,
       json_extract(run.clock, '$.source') AS clock,
       json_extract(run.host_before, '$.facts."kernel.release"') AS kernel,
       json_extract(run.host_before, '$.facts."cpu.model"') AS cpu,
       run.host_before,
       run.host_after,
       run.warnings,
       run.labels,
       run.origin
FROM run;
