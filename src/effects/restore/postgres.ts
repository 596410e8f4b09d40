// Restores Postgres: the data is loaded into a new database, and two databases swap names in one
// transaction. The existing databases are the only record of the progress.
import { randomBytes } from 'node:crypto'
import { sleep } from '../../async/sleep.ts'
import type { Credentials } from '../../domain/datastore-urls.ts'
import { messageOf } from '../../errors.ts'
import { useTool } from '../backup/backup.ts'
import { postgresEnv } from '../datastore/kind.ts'
import { formatOfFile, loadSql } from './plain-sql.ts'
import { type Restorer, type RestoreStep, readRestoreFile, runCommand } from './step.ts'

const psql = ['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1']
const switchAttempts = 40
const switchPauseMs = 250

const newName = ({ input }: RestoreStep) => `berth_new_${input.id.slice(4)}`
const formerName = ({ input }: RestoreStep) => `berth_former_${input.id.slice(4)}`

export const postgresRestorer: Restorer = {
  async load(step) {
    await drop(step, newName(step))
    const isArchive = (await formatOfFile(step)) === 'archive'
    await (isArchive ? loadArchive(step) : loadAsRole(step))
  },

  async switchOver(step) {
    const [name, serving] = [newName(step), step.datastore.credentials.database!]
    // One transaction.
    const swap = [
      `alter database "${serving}" rename to "${formerName(step)}"`,
      `alter database "${name}" rename to "${serving}"`,
    ].join('; ')
    const closing = `alter database "${serving}" allow_connections false`
    for (let attempt = 1; ; attempt++) {
      if (!(await listDatabases(step)).includes(name)) return
      try {
        await query(step, [closing, terminateConnections(serving), swap])
        return
      } catch (error) {
        step.signal.throwIfAborted()
        // A client was about to connect, or a vacuum was running.
        if (attempt === switchAttempts || !/being accessed/.test(messageOf(error))) throw error
        await sleep(switchPauseMs, step.signal)
      }
    }
  },

  tidy: (step) => drop(step, formerName(step)),

  async undo(step) {
    await drop(step, newName(step))
    const serving = step.datastore.credentials.database!
    const isThere = (await listDatabases(step)).includes(serving)
    if (isThere) await query(step, [`alter database "${serving}" allow_connections true`])
  },
}

async function loadArchive(step: RestoreStep): Promise<void> {
  const { ports, datastore, input, signal } = step
  const name = newName(step)
  await query(step, [`create database "${name}" template template0`])
  const command = {
    argv: ['pg_restore', '-d', name, '--no-owner', '--no-acl', '--exit-on-error'],
    env: postgresEnv(datastore.credentials),
  }
  const run = { id: input.id, command, sharesNetwork: true, input: readRestoreFile(step) }
  await useTool(ports, datastore, run, 'restore_failed', signal)
}

/** The file runs as a role of its own. Then everything belongs to the datastore's user. */
async function loadAsRole(step: RestoreStep): Promise<void> {
  const name = newName(step)
  const role = { username: name, database: name, password: randomBytes(16).toString('hex') }
  await createRole(step, role)
  await query(step, [`create database "${name}" template template0 owner "${name}"`])
  await loadSql(step, role)
  const { username } = step.datastore.credentials
  await query(step, [`reassign owned by "${name}" to "${username}"`, `drop owned by "${name}"`], name)
  await query(step, [`drop role "${name}"`])
}

/** The password is not an argument, because every user of the host can read arguments. */
async function createRole(step: RestoreStep, { username, password }: Credentials): Promise<void> {
  const statement = `create role "${username}" login connection limit 1 password '${password}'`
  await runCommand(step, {
    argv: ['sh', '-c', `exec ${psql.join(' ')} -c "$CREATE_ROLE"`],
    env: { ...postgresEnv(step.datastore.credentials, 'template1'), CREATE_ROLE: statement },
  })
}

async function drop(step: RestoreStep, name: string): Promise<void> {
  await query(step, [
    terminateConnections(name),
    `drop database if exists "${name}"`,
    `drop role if exists "${name}"`,
  ])
}

function terminateConnections(database: string): string {
  return `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`
}

async function listDatabases(step: RestoreStep): Promise<string[]> {
  return (await query(step, ['select datname from pg_database'])).split('\n')
}

/** Each statement is its own transaction. By default connects to a database that is never restored. */
function query(step: RestoreStep, statements: string[], database = 'template1'): Promise<string> {
  const argv = [...psql, ...statements.flatMap((statement) => ['-c', statement])]
  return runCommand(step, { argv, env: postgresEnv(step.datastore.credentials, database) })
}
