// Restores Postgres from an SQL file: checked first, then run by psql in one transaction. psql commits at the
// end of its input, even if it is truncated. The last line that we send proves that psql received all of it.
import { randomBytes } from 'node:crypto'
import { Failure } from '../../errors.ts'
import { createProgressReporter } from '../backup/file.ts'
import { findToolError, runTool } from '../backup/tool.ts'
import { type Datastore, maskPassword } from '../datastore/access.ts'
import type { RestorePorts } from './ports.ts'
import { readSql } from './sql-file.ts'
import type { RestoreWork } from './work.ts'

/**
 * psql's restricted mode refuses every command with a backslash. psql has it since 13.22, 14.19, 15.14, 16.10
 * and 17.6; with older versions the check of the file must suffice.
 */
const script = `if psql --help=commands | grep -q '[\\]restrict'
then exec psql "$@" -c '\\restrict '"$BERTH_KEY" -f -
else exec psql "$@" -f -
fi`
const options = ['-XAtq', '--single-transaction', '-v', 'ON_ERROR_STOP=1', '-h', '127.0.0.1']
const maxMessageChars = 300

/** Reads the whole file. Throws `unsupported_dump` with the line. */
export async function checkSql(ports: RestorePorts, work: RestoreWork, signal: AbortSignal): Promise<void> {
  try {
    const onChunk = createProgressReporter(ports, work.id, work.sizeBytes)
    for await (const _ of readSql(work, onChunk, signal));
  } finally {
    ports.progress.clear(work.id)
  }
}

/** Loads the file into that database. Throws `restore_failed` with the line. */
export async function loadSql(
  ports: RestorePorts,
  datastore: Datastore,
  { work, name }: { work: RestoreWork; name: string },
  signal: AbortSignal,
): Promise<void> {
  const { username, password } = datastore.credentials
  const key = randomBytes(16).toString('hex')
  const argv = ['sh', '-c', script, 'sh', ...options, '-U', username, '-d', name]
  const env = { PGPASSWORD: password, BERTH_KEY: key, PGCLIENTENCODING: 'UTF8' }
  const proof = Buffer.from(`${key}\n`)
  let last: Buffer = Buffer.alloc(0)
  const output = async (piece: Uint8Array) => {
    last = Buffer.concat([last, piece]).subarray(-proof.length)
  }
  const input = withProof(readSql(work, createProgressReporter(ports, work.id, work.sizeBytes), signal), key)
  const run = { id: work.id, command: { argv, env }, sharesNetwork: true, input, output }
  const outcome = await runTool(ports, datastore, run, signal)
  const stopped = /^psql:<stdin>:(\d+): (?:ERROR|FATAL|PANIC): +(.*)$/m.exec(outcome.stderr)
  if (outcome.exitCode !== 0 && stopped) {
    const message = maskPassword(`line ${stopped[1]}: ${stopped[2]}`, datastore.credentials)
    throw new Failure('restore_failed', message.slice(0, maxMessageChars))
  }
  const complaint = findToolError(outcome, datastore)
  if (complaint !== null) throw new Failure('restore_failed', complaint)
  if (!last.equals(proof)) throw new Failure('docker_unavailable', 'psql did not get all of the file')
}

async function* withProof(sql: AsyncIterable<Uint8Array>, key: string): AsyncGenerator<Uint8Array> {
  yield* sql
  yield Buffer.from(`\nselect '${key}';\n`)
}
