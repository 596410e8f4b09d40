// The effects of an upgrade of Postgres to another major version. The server serves until `copyData`, which
// restarts it without a network: no client can connect, while the copy shares its loopback.
import type { UpgradeSlot } from '../../../machines/datastore/datastore-context.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import { claimVolume, hasVolume, removeVolume } from '../../docker/containers/volumes.ts'
import { datastoreName } from '../../docker/engine/names.ts'
import { Failure } from '../../errors.ts'
import { size } from '../../quantities.ts'
import { useTool } from '../backup/backup.ts'
import type { ToolPorts } from '../backup/ports.ts'
import { byServer } from '../by.ts'
import { freeBytes, guardDockerDisk } from '../disk/disk.ts'
import { isoNow } from '../iso-now.ts'
import { retryUntilCleanedUp, waitForCommit } from '../waiting.ts'
import { type Datastore, findDatastore, runInDatastore } from './access.ts'
import { type DatastorePorts, imageOf, obtainImage, postgresEnv } from './kind.ts'
import { stopSeconds, volumeLabels } from './start.ts'
import { awaitAnswer } from './upkeep.ts'

export type UpgradePorts = DatastorePorts & ToolPorts

/** The new data, and what the new server logs while it loads them. */
const copiesThatFit = 2

export async function checkUpgrade(
  ports: UpgradePorts,
  { id, kind, upgrade }: UpgradeSlot,
  signal: AbortSignal,
) {
  const { version } = upgrade.to
  if (imageOf(ports, kind, version) === imageOf(ports, kind, upgrade.from.version))
    throw new Failure('upgrade_refused', '--postgres-image names one image for all versions')
  await obtainImage(ports, { kind, version }, signal)
  const datastore = findDatastore(ports, id)
  const { obstacles, extensions } = await inspect(ports, datastore, signal)
  const [obstacle] = obstacles
  if (obstacle) throw new Failure('upgrade_refused', `${obstacle}, cannot be moved`)
  const listing = { version, script: listExtensionsScript }
  const available = await runNewVersion(ports, datastore, listing, signal)
  const missing = extensions.filter((name) => !available.split('\n').includes(name))
  if (missing.length > 0)
    throw new Failure('upgrade_refused', `Postgres ${version} here has no extension ${missing.join(', ')}`)
  await requireSpace(ports, datastore, signal)
}

async function inspect(ports: UpgradePorts, datastore: Datastore, signal: AbortSignal) {
  const lines = (await runInServer(ports, datastore, ['sh', '-c', inspectScript], signal)).split('\n')
  const named = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
  return { obstacles: named('obstacle'), extensions: [...new Set(named('extension'))] }
}

async function requireSpace(ports: UpgradePorts, datastore: Datastore, signal: AbortSignal): Promise<void> {
  const { rootDir } = await ports.engine.info()
  if (rootDir === null) return
  const { minFreeDiskMb } = ports.settings
  const needed =
    copiesThatFit * (await measureDatabases(ports, datastore, signal)) + minFreeDiskMb * 1024 ** 2
  const free = await freeBytes(rootDir)
  if (free >= needed) return
  throw new Failure(
    'insufficient_storage',
    `${rootDir} has ${size(free)} free, the copy needs ${size(needed)}`,
  )
}

/** In bytes. */
export async function measureDatabases(
  ports: Pick<DatastorePorts, 'datastores'>,
  datastore: Datastore,
  signal?: AbortSignal,
): Promise<number> {
  const argv = ['psql', '-XAtqc', sizeQuery]
  return Number(await runInServer(ports, datastore, argv, signal))
}

/** Returns the output. Throws `upgrade_failed`. */
function runInServer(
  ports: Pick<DatastorePorts, 'datastores'>,
  datastore: Datastore,
  argv: string[],
  signal?: AbortSignal,
): Promise<string> {
  const command = { argv, env: postgresEnv(datastore.credentials, 'template1') }
  const options = { code: 'upgrade_failed', timeoutMs: 60_000, ...(signal && { signal }) }
  return runInDatastore(ports, datastore, command, options)
}

interface NewVersionRun {
  version: string
  script: string
  /** Missing for a server without the datastore's data. */
  volume?: string
}

/** Returns the output of a script in a container of the new version. Throws `upgrade_failed`. */
async function runNewVersion(
  ports: UpgradePorts,
  datastore: Datastore,
  { version, script, volume }: NewVersionRun,
  signal: AbortSignal,
): Promise<string> {
  const { kind, credentials, record } = datastore
  const command = { argv: ['sh', '-c', script], env: kind.env(credentials) }
  const mount = volume === undefined ? {} : { volume: { name: volume, mountPath: kind.mountPath(version) } }
  const run = { id: record.id, command, sharesNetwork: volume !== undefined, ...mount }
  const upgraded = { ...datastore, record: { ...record, version } }
  return (await useTool(ports, upgraded, run, 'upgrade_failed', signal)).stdout
}

/** An interrupted copy is not repeated: the datastore has been closed for an unknown time already. */
export async function copyData(ports: UpgradePorts, { id, upgrade }: UpgradeSlot, signal: AbortSignal) {
  const volume = datastoreName(ports.owner, upgrade.to.volume)
  if (await hasVolume(ports.engine, volume))
    throw new Failure('upgrade_failed', 'berthd was stopped during the copy')
  const datastore = findDatastore(ports, id)
  await claimVolume(ports.engine, ports.owner, volume, volumeLabels(datastore))
  await ports.instances.stop(datastore.name, stopSeconds)
  await ports.datastores.disconnect(datastore.name)
  await ports.instances.start(datastore.name)
  await awaitAnswer(ports, { id }, signal)
  await guardDockerDisk(ports, 'an upgrade', signal, (bound) =>
    runNewVersion(ports, datastore, { version: upgrade.to.version, script: copyScript, volume }, bound),
  )
}

/** Leaves a server alone that is not closed yet. The next start creates a container with a network. */
export async function undoUpgrade(ports: UpgradePorts, { id, upgrade }: UpgradeSlot, signal: AbortSignal) {
  await retryUntilCleanedUp(ports, id, signal, async () => {
    await ports.tools.remove(id)
    const volume = datastoreName(ports.owner, upgrade.to.volume)
    if (!(await hasVolume(ports.engine, volume))) return
    await removeServer(ports, id)
    await removeVolume(ports.engine, ports.owner, volume, id)
  })
}

async function removeServer(ports: UpgradePorts, id: string): Promise<void> {
  const { name } = findDatastore(ports, id)
  await ports.instances.stop(name, stopSeconds)
  await ports.instances.remove(name)
}

export async function switchVolume(ports: UpgradePorts, { id, upgrade }: UpgradeSlot, signal: AbortSignal) {
  const { from, to, removal, keptBy } = upgrade
  if (keptBy !== null) await keepVolume(ports, keptBy, signal)
  await retryUntilCleanedUp(ports, id, signal, () => removeServer(ports, id))
  await ports.storage.datastores.useVolume(id, to.volume)
  const input = {
    id: removal.id,
    disk: datastoreName(ports.owner, from.volume),
    serviceId: id,
    at: isoNow(),
    serviceName: findDatastore(ports, id).record.name,
    expiresAt: removal.expiresAt,
  }
  await ports.actors.spawn('disk-removal', removal.id, input, {
    by: byServer('the upgrade of a datastore'),
  })
}

/** Takes the volume out of the trash. Throws `upgrade_refused` if that comes too late. */
async function keepVolume({ actors, storage }: UpgradePorts, id: string, signal: AbortSignal): Promise<void> {
  const find = (): RecordOf<'disk-removal'> | null => storage.actors.record<'disk-removal'>(id)
  await waitForCommit(storage.changes, find()?.service_id ?? id, signal, () =>
    find()?.status === 'measuring' ? null : true,
  )
  if (find()?.status === 'restored') return
  const { applied } = await actors.send(id, {
    type: 'restore',
    at: isoNow(),
    by: 'an upgrade that is undone',
  })
  if (!applied) throw new Failure('upgrade_refused', 'the data of the former version is deleted')
}
// The shell scripts of an upgrade. They run in containers of the new version's image, whose programs read the
// data of older servers. POSTGRES_USER and POSTGRES_PASSWORD are those of the datastore.

// The new server runs for this script only. Settings of roles and databases must not stop the copy.
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
const listExtensionsScript = `${server}query $to -c 'select name from pg_available_extensions'
stop`

/**
 * Copies everything from the server at port 5432: roles, databases with their settings, owners and grants,
 * and the settings of the server. The first role exists already in the new server. pg_dumpall leaves out the
 * settings of all roles. The last start shows whether the new server accepts the settings.
 */
const copyScript = `${server}from="-h 127.0.0.1 -p 5432 -U $POSTGRES_USER"
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
const inspectScript = `set -eu
query() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
query -c "select 'obstacle ' || text from (${obstacles}) as found (text)"
query -c "select datname from pg_database where datallowconn" >/tmp/berth-databases
while IFS= read -r database; do
  PGDATABASE="$database" query -c "select 'extension ' || extname from pg_extension"
done </tmp/berth-databases`

const sizeQuery = 'select sum(pg_database_size(oid)) from pg_database'
