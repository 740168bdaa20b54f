CREATE ROLE knee_owner LOGIN;    -- makes the archive, migrates it, deletes runs
CREATE ROLE knee_writer LOGIN;   -- pushes runs
CREATE ROLE knee_reader LOGIN;   -- reads: people, Grafana
CREATE SCHEMA knee AUTHORIZATION knee_owner;
GRANT USAGE ON SCHEMA knee TO knee_writer, knee_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE knee_owner IN SCHEMA knee
    GRANT SELECT, INSERT ON TABLES TO knee_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE knee_owner IN SCHEMA knee
    GRANT SELECT ON TABLES TO knee_reader;
