-- Drops the runs of one partition, without those that are baselines. As the owner.
BEGIN;
CREATE TEMPORARY TABLE cell_kept ON COMMIT DROP AS
    SELECT * FROM knee.cell_30000 WHERE run IN (SELECT run FROM knee.baseline);
DROP TABLE knee.cell_30000;
DELETE FROM knee.run
    WHERE number >= 30000 AND number < 60000 AND number NOT IN (SELECT run FROM knee.baseline);
INSERT INTO knee.cell (run, sequence, ordinal, body, positions, samples, lengths, seal)
    SELECT run, sequence, ordinal, body, positions, samples, lengths, seal FROM cell_kept;
COMMIT;
