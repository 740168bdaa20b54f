#!/bin/sh
# The roles of docs/archive.md, with their passwords. The image of PostgreSQL runs this once, as its administrator, while
# its volume is empty.
set -eu
: "${KNEE_OWNER_PASSWORD:?}" "${KNEE_WRITER_PASSWORD:?}" "${KNEE_READER_PASSWORD:?}"

# In one transaction: half of the roles would make the next try fail.
# The passwords are read from the environment: lists of processes show what stands in a command line.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --single-transaction \
    --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
    --file "${KNEE_ROLES:-/etc/knee/roles.sql}" --file - <<'SQL'
\getenv owner KNEE_OWNER_PASSWORD
\getenv writer KNEE_WRITER_PASSWORD
\getenv reader KNEE_READER_PASSWORD
ALTER ROLE knee_owner PASSWORD :'owner';
ALTER ROLE knee_writer PASSWORD :'writer';
ALTER ROLE knee_reader PASSWORD :'reader';
SQL
