-- Makes knee.cell a partitioned table, for 30,000 runs each, while nothing else uses the archive. As the owner.
BEGIN;
SET LOCAL search_path = '';
LOCK TABLE knee.run, knee.cell;
CREATE TEMPORARY TABLE view_before ON COMMIT DROP AS
    SELECT viewname, definition FROM pg_catalog.pg_views
    WHERE schemaname = 'knee' AND definition ~ 'knee\.cell\M';
ALTER TABLE knee.cell RENAME TO cell_old;
CREATE TABLE knee.cell (LIKE knee.cell_old INCLUDING ALL) PARTITION BY RANGE (run);
ALTER TABLE knee.cell ADD FOREIGN KEY (run) REFERENCES knee.run (number) ON DELETE CASCADE;
CREATE TABLE knee.cell_rest PARTITION OF knee.cell DEFAULT;
DO $$
DECLARE
    bound bigint := (SELECT coalesce(max(number) / 30000 + 1, 0) * 30000 FROM knee.run);
    kept record;
BEGIN
    EXECUTE format('ALTER TABLE knee.cell ATTACH PARTITION knee.cell_old FOR VALUES FROM (MINVALUE) TO (%s)', bound);
    FOR kept IN SELECT * FROM pg_temp.view_before LOOP
        EXECUTE format('CREATE OR REPLACE VIEW knee.%I AS %s', kept.viewname, kept.definition);
    END LOOP;
END $$;
COMMIT;
