// Entrypoints of the datastore images. They behave like the official ones, but only need busybox's shell.

/** On the first start, initializes the database with a server that listens on a socket only, then serves. */
export const postgresEntrypoint = (volume: string) => `#!/bin/sh
set -e
from_file() {
  eval "value=\\"\\$$1\\" file=\\"\\$$1_FILE\\""
  if [ -n "$file" ]; then value=$(cat "$file"); fi
  export "$1=\${value:-$2}"
  unset "$1_FILE"
}
if [ "\${1#-}" != "$1" ]; then set -- postgres "$@"; fi
if [ "$1" != postgres ]; then exec "$@"; fi
if [ ${volume} = /var/lib/postgresql ] && grep -q ' /var/lib/postgresql/data ' /proc/mounts; then
  echo 'Error: from version 18 on the volume belongs at /var/lib/postgresql' >&2
  exit 1
fi
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /var/run/postgresql
  chmod 700 "$PGDATA"
  chown -R postgres:postgres "$PGDATA" /var/run/postgresql
  exec /usr/bin/setpriv --reuid=postgres --regid=postgres --clear-groups -- "$0" "$@"
fi
from_file POSTGRES_PASSWORD
from_file POSTGRES_USER postgres
from_file POSTGRES_DB "$POSTGRES_USER"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -z "$POSTGRES_PASSWORD" ]; then
    echo 'Error: Database is uninitialized and superuser password is not specified.' >&2
    exit 1
  fi
  secret=$(mktemp)
  printf '%s\\n' "$POSTGRES_PASSWORD" > "$secret"
  initdb -D "$PGDATA" --username="$POSTGRES_USER" --pwfile="$secret" $POSTGRES_INITDB_ARGS
  rm -f "$secret"
  printf '\\nhost all all all scram-sha-256\\n' >> "$PGDATA/pg_hba.conf"
  PGUSER="$POSTGRES_USER" pg_ctl -D "$PGDATA" -o "-c listen_addresses='' -p 5432" -w start
  if [ "$POSTGRES_DB" != postgres ]; then
    printf 'CREATE DATABASE :"db";\\n' |
      psql -v ON_ERROR_STOP=1 --no-psqlrc -U "$POSTGRES_USER" -d postgres -v db="$POSTGRES_DB"
  fi
  pg_ctl -D "$PGDATA" -m fast -w stop
  echo 'PostgreSQL init process complete; ready for start up.'
fi
exec "$@"
`

export const redisEntrypoint = `#!/bin/sh
set -e
if [ "\${1#-}" != "$1" ] || [ "\${1%.conf}" != "$1" ]; then set -- redis-server "$@"; fi
if [ "$1" = redis-server ] && [ "$(id -u)" = 0 ]; then
  find . \\! -user redis -exec chown redis {} +
  exec /usr/bin/setpriv --reuid=redis --regid=redis --clear-groups -- "$0" "$@"
fi
exec "$@"
`
