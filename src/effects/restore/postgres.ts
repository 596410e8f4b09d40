// Restores Postgres: the data is loaded into a new database, and two databases swap names in one
// transaction. The existing databases are the only record of the progress.
import { randomBytes } from 'node:crypto'
import { sleep } from '../../async/sleep.ts'
import { Failure, messageOf } from '../../errors.ts'
import { createProgressReporter, readChunks } from '../backup/file.ts'
import { findToolError, runTool } from '../backup/tool.ts'
import type { Datastore } from '../datastore/access.ts'
import { formatOfFile, loadSql, type SqlRole } from './plain-sql.ts'
import type { RestorePorts } from './ports.ts'
import { type Restorer, type RestoreWork, runCommand } from './work.ts'

const switchAttempts = 40
const switchPauseMs = 250

/** The names of the new database, and of the old one after the swap. */
const newName = ({ id }: { id: string }) => `berth_new_${id.slice(4)}`
const formerName = ({ id }: { id: string }) => `berth_former_${id.slice(4)}`

export const postgresRestorer: Restorer = {
  async load(ports, datastore, work, signal) {
    const name = newName(work)
    await drop(ports, datastore, name, signal)
    if ((await formatOfFile(work.path)) === 'archive') await loadArchive(ports, datastore, work, signal)
    else await loadAsRole(ports, datastore, work, signal)
  },

  async switchOver(ports, datastore, work, signal) {
    const [name, serving] = [newName(work), datastore.credentials.database!]
    // One transaction.
    const swap = [
      `alter database "${serving}" rename to "${formerName(work)}"`,
      `alter database "${name}" rename to "${serving}"`,
    ].join('; ')
    for (let attempt = 1; ; attempt++) {
      const databases = await listDatabases(ports, datastore, signal)
      if (!databases.has(name)) return
      try {
        const closing = `alter database "${serving}" allow_connections false`
        return await sql(ports, datastore, [closing, terminateConnections(serving), swap], signal)
      } catch (error) {
        signal.throwIfAborted()
        // A client was about to connect, or a vacuum was running.
        if (attempt === switchAttempts || !/being accessed/.test(messageOf(error))) throw error
        await sleep(switchPauseMs, signal)
      }
    }
  },

  tidy: (ports, datastore, work, signal) => drop(ports, datastore, formerName(work), signal),

  async undo(ports, datastore, work, signal) {
    await drop(ports, datastore, newName(work), signal)
    const serving = datastore.credentials.database!
    const isThere = (await listDatabases(ports, datastore, signal)).has(serving)
    if (isThere) await sql(ports, datastore, [`alter database "${serving}" allow_connections true`], signal)
  },
}

async function loadArchive(
  ports: RestorePorts,
  datastore: Datastore,
  work: RestoreWork,
  signal: AbortSignal,
): Promise<void> {
  const name = newName(work)
  await sql(ports, datastore, [`create database "${name}" template template0`], signal)
  const { username, password } = datastore.credentials
  const argv = ['pg_restore', '-h', '127.0.0.1', '-U', username, '-d', name]
  const command = {
    argv: [...argv, '--no-owner', '--no-acl', '--exit-on-error'],
    env: { PGPASSWORD: password },
  }
  const input = readChunks(work.path, createProgressReporter(ports, work.id, work.sizeBytes), signal)
  const run = { id: work.id, command, sharesNetwork: true, input }
  const complaint = findToolError(await runTool(ports, datastore, run, signal), datastore)
  if (complaint !== null) throw new Failure('restore_failed', complaint)
}

/** The file runs as a role of its own. Then everything belongs to the datastore's user. */
async function loadAsRole(
  ports: RestorePorts,
  datastore: Datastore,
  work: RestoreWork,
  signal: AbortSignal,
): Promise<void> {
  const name = newName(work)
  const role = { name, database: name, password: randomBytes(16).toString('hex') }
  await createRole(ports, datastore, role, signal)
  await sql(ports, datastore, [`create database "${name}" template template0 owner "${name}"`], signal)
  await loadSql(ports, datastore, { work, role }, signal)
  const inherit = [
    `reassign owned by "${name}" to "${datastore.credentials.username}"`,
    `drop owned by "${name}"`,
  ]
  await sql(ports, datastore, inherit, signal, name)
  await sql(ports, datastore, [`drop role "${name}"`], signal)
}

/** The password is not an argument, because every user of the host can read arguments. */
async function createRole(
  ports: RestorePorts,
  datastore: Datastore,
  { name, password }: SqlRole,
  signal: AbortSignal,
): Promise<void> {
  const { argv, env } = psql(datastore, 'template1')
  const statement = `create role "${name}" login connection limit 1 password '${password}'`
  const command = {
    argv: ['sh', '-c', 'exec "$@" -c "$CREATE_ROLE"', 'sh', ...argv],
    env: { ...env, CREATE_ROLE: statement },
  }
  await runCommand(ports, datastore, command, signal)
}

async function drop(
  ports: RestorePorts,
  datastore: Datastore,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const statements = [
    terminateConnections(name),
    `drop database if exists "${name}"`,
    `drop role if exists "${name}"`,
  ]
  await sql(ports, datastore, statements, signal)
}

function terminateConnections(database: string): string {
  return `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`
}

async function listDatabases(
  ports: RestorePorts,
  datastore: Datastore,
  signal: AbortSignal,
): Promise<Set<string>> {
  const output = await query(ports, datastore, ['select datname from pg_database'], signal)
  return new Set(output.split('\n'))
}

async function sql(
  ports: RestorePorts,
  datastore: Datastore,
  statements: string[],
  signal: AbortSignal,
  database?: string,
): Promise<void> {
  await query(ports, datastore, statements, signal, database)
}

/** Each statement is its own transaction. By default connects to a database that is never restored. */
function query(
  ports: RestorePorts,
  datastore: Datastore,
  statements: string[],
  signal: AbortSignal,
  database = 'template1',
): Promise<string> {
  const { argv, env } = psql(datastore, database)
  const commands = statements.flatMap((statement) => ['-c', statement])
  return runCommand(ports, datastore, { argv: [...argv, ...commands], env }, signal)
}

function psql({ credentials }: Datastore, database: string) {
  const connection = ['-h', '127.0.0.1', '-U', credentials.username, '-d', database]
  return {
    argv: ['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', ...connection],
    env: { PGPASSWORD: credentials.password },
  }
}
