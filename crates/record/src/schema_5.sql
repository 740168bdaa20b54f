-- Schema 5: seals. A checksum of what a run's row, or a cell with its metrics, held when it was written, so
-- that nothing else is ever taken for it: SQLite itself notices a broken page, not a changed figure. And
-- where a run began: what came from elsewhere is not resumed, for that would do what a stranger's plan says.

-- How many cells the run had when it ended; NULL while it is open.
ALTER TABLE run ADD COLUMN cells_kept INTEGER;
-- NULL for what an older knee began. All cells of a sealed run are sealed.
ALTER TABLE run ADD COLUMN seal INTEGER;
ALTER TABLE cell ADD COLUMN seal INTEGER;

ALTER TABLE run ADD COLUMN origin TEXT NOT NULL DEFAULT ''; -- '' here, else 'import' or 'merge'

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
       run.labels,
       run.origin
FROM run;
