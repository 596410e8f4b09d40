// The shell scripts of an upgrade. They run in containers of the new version's image, whose programs read the
// data of older servers. POSTGRES_USER and POSTGRES_PASSWORD are those of the datastore.

/**
 * Starts the new server for this script only, at a port that the former one does not have. Settings of roles
 * and databases must not stop the copy.
 */
const server = `set -eu
to="-h 127.0.0.1 -p 5433 -U $POSTGRES_USER"
export PGPASSWORD="$POSTGRES_PASSWORD"
export PGOPTIONS='-c default_transaction_read_only=off -c statement_timeout=0 -c client_min_messages=warning'
query() { psql "$@" -XAtq -v ON_ERROR_STOP=1 -d template1; }
fail() {
  grep -E 'unrecognized|invalid value|FATAL' /tmp/server.log | head -n 1 >&2
  exit 1
}
start() {
  docker-entrypoint.sh postgres -p 5433 -c listen_addresses=127.0.0.1 >/tmp/server.log 2>&1 &
  server=$!
  until query $to -c 'select 1' >/dev/null 2>&1; do
    kill -0 $server 2>/dev/null || fail
    sleep 0.2
  done
}
stop() { kill -INT $server; wait $server; }
start
`

/** Prints the names of the extensions that the new version has, in a container of its own. */
export const listExtensionsScript = `${server}query $to -c 'select name from pg_available_extensions'
stop`

/**
 * Copies everything from the server at port 5432: roles, databases with their settings, owners and grants,
 * and the settings of the server. The first role exists already in the new server. pg_dumpall leaves out the
 * settings of all roles. The last start shows whether the new server accepts the settings.
 */
export const copyScript = `${server}from="-h 127.0.0.1 -p 5432 -U $POSTGRES_USER"
pg_dumpall $from -l template1 --globals-only >/tmp/all-globals.sql
first="CREATE ROLE $POSTGRES_USER;" quoted="CREATE ROLE \\"$POSTGRES_USER\\";"
grep -vxF -e "$first" -e "$quoted" /tmp/all-globals.sql >/tmp/globals.sql
query $to -f /tmp/globals.sql
query $from -c "select format('insert into pg_db_role_setting values (0, 0, %L)', setconfig)
  from pg_db_role_setting where setdatabase = 0 and setrole = 0" >/tmp/all-roles.sql
query $to -f /tmp/all-roles.sql
query $from -c "select datname from pg_database where datname <> 'template0'
  order by datname <> 'template1'" >/tmp/databases
while IFS= read -r database; do
  options='-d postgres --clean'
  if [ "$database" != template1 ]; then
    options='-d template1'
    dropdb $to --maintenance-db=template1 --if-exists -- "$database"
  fi
  { PGDATABASE="$database" pg_dump $from -Fc || touch /tmp/failed; } |
    pg_restore $to $options --create --exit-on-error
  [ ! -e /tmp/failed ]
done </tmp/databases
vacuumdb $to --maintenance-db=template1 --all --analyze-only --quiet
query $from -c "select pg_read_file('postgresql.auto.conf')" >/tmp/auto.conf
stop
cat /tmp/auto.conf >"$PGDATA/postgresql.auto.conf"
start
stop`

/** One line for each thing that pg_dump leaves out or that a copy would break. */
const obstacles = `select format('the user %I, who is not a superuser any more', rolname)
  from pg_roles where rolname = current_user and not rolsuper
union all select format('the database %I, which accepts no connections', datname)
  from pg_database where not datallowconn and datname <> 'template0'
union all select format('the database %I, whose name has a line break', datname)
  from pg_database where datname ~ '[\\r\\n]'
union all select format('the tablespace %I', spcname)
  from pg_tablespace where spcname not in ('pg_default', 'pg_global')
union all select format('the replication slot %I', slot_name) from pg_replication_slots where not temporary
union all select format('the subscription %I', subname) from pg_subscription
union all select format('the prepared transaction %L', gid) from pg_prepared_xacts`

/** Runs in the datastore's container. Prints `obstacle NAME` and `extension NAME`. */
export const inspectScript = `set -eu
query() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
query -c "select 'obstacle ' || text from (${obstacles}) as found (text)"
query -c "select datname from pg_database where datallowconn" >/tmp/berth-databases
while IFS= read -r database; do
  PGDATABASE="$database" query -c "select 'extension ' || extname from pg_extension"
done </tmp/berth-databases`

export const sizeQuery = 'select sum(pg_database_size(oid)) from pg_database'
