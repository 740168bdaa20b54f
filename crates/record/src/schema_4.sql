-- Schema 4: what runs are called. Labels say what was measured beyond the machine (a commit, a kernel's
-- name); a baseline is a name for a run that others are compared with, in this record alone.

ALTER TABLE run ADD COLUMN labels TEXT NOT NULL DEFAULT '{}'; -- JSON object of strings

CREATE TABLE baseline (
    name TEXT PRIMARY KEY,
    run  INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE VIEW v_baseline AS SELECT name, run FROM baseline;

DROP VIEW v_run;
CREATE VIEW v_run AS
SELECT run.number AS run,
       run.id,
       run.started,
       run.ended,
       run.state,
       (SELECT count(*) FROM cell WHERE cell.run = run.number) AS cells_ended,
       (SELECT count(*) FROM cell WHERE cell.run = run.number AND cell.outcome = 'void') AS cells_void,
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
       run.labels
FROM run;
