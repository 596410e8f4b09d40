// Restores Postgres: the data is loaded into a new database, and two databases swap names in one
// transaction. The existing databases are the only record of the progress.
import { sleep } from '../../async/sleep.ts'
import { Failure, messageOf } from '../../errors.ts'
import { createProgressReporter, readChunks } from '../backup/file.ts'
import { findToolError, runTool } from '../backup/tool.ts'
import type { Datastore } from '../datastore/access.ts'
import type { RestorePorts } from './ports.ts'
import { formatOfFile } from './sql-file.ts'
import { loadSql } from './sql-load.ts'
import { type Restorer, runCommand } from './work.ts'

const switchAttempts = 40
const switchPauseMs = 250

/** The names of the new database, and of the old one after the swap. */
const newName = ({ id }: { id: string }) => `berth_new_${id.slice(4)}`
const formerName = ({ id }: { id: string }) => `berth_former_${id.slice(4)}`

export const postgresRestorer: Restorer = {
  async load(ports, datastore, work, signal) {
    const name = newName(work)
    await drop(ports, datastore, name, signal)
    await sql(ports, datastore, [`create database "${name}" template template0`], signal)
    if ((await formatOfFile(work.path)) !== 'archive')
      return loadSql(ports, datastore, { work, name }, signal)
    const { username, password } = datastore.credentials
    const argv = ['pg_restore', '-h', '127.0.0.1', '-U', username, '-d', name]
    const command = {
      argv: [...argv, '--no-owner', '--no-acl', '--exit-on-error'],
      env: { PGPASSWORD: password },
    }
    const input = readChunks(work.path, createProgressReporter(ports, work.id, work.sizeBytes), signal)
    const outcome = await runTool(
      ports,
      datastore,
      { id: work.id, command, sharesNetwork: true, input },
      signal,
    )
    const complaint = findToolError(outcome, datastore)
    if (complaint !== null) throw new Failure('restore_failed', complaint)
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

async function drop(
  ports: RestorePorts,
  datastore: Datastore,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  await sql(ports, datastore, [terminateConnections(name), `drop database if exists "${name}"`], signal)
}

/** Ends all connections to the database. */
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
): Promise<void> {
  await query(ports, datastore, statements, signal)
}

/** Each statement is its own transaction. Connects to a database that is never restored. */
function query(
  ports: RestorePorts,
  datastore: Datastore,
  statements: string[],
  signal: AbortSignal,
): Promise<string> {
  const { username, password } = datastore.credentials
  const argv = [
    'psql',
    '-XAtq',
    '-v',
    'ON_ERROR_STOP=1',
    '-h',
    '127.0.0.1',
    '-U',
    username,
    '-d',
    'template1',
  ]
  const commands = statements.flatMap((statement) => ['-c', statement])
  return runCommand(ports, datastore, { argv: [...argv, ...commands], env: { PGPASSWORD: password } }, signal)
}
