// A file of plain SQL: its format, and its way through psql. It runs as a role that owns the new database and
// has no other rights. The role's only connection is in use, so `\connect` reaches no other database.
import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type DumpFormat, formatOf, headBytes } from '../../domain/backup-files.ts'
import type { Credentials } from '../../domain/datastore-urls.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { findToolError, runTool } from '../backup/tool.ts'
import { maskPassword } from '../datastore/access.ts'
import { postgresEnv } from '../datastore/kind.ts'
import { SqlFilter, unsupported } from './sql-filter.ts'
import { pathOfFile, type RestoreStep, readRestoreFile } from './step.ts'

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
const maxMessageChars = 300

/** Since 13.22, 14.19, 15.14, 16.10 and 17.6 psql has a mode that refuses all commands with a backslash. */
const psqlScript = `if psql --help=commands | grep -q '[\\]restrict'
then exec psql "$@" -c '\\restrict '"$BERTH_KEY" -f -
else exec psql "$@" -f -
fi`

/** Throws `restore_failed` for a missing file, and `unsupported_dump`. */
export async function formatOfFile(path: string): Promise<DumpFormat> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new Failure('restore_failed', `the file cannot be read: ${messageOf(error)}`)
  })
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    return formatOfHead(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}

function formatOfHead(head: Buffer): DumpFormat {
  const format = formatOf(head)
  if (typeof format === 'string') return format
  throw unsupported(`the file ${format.message}`)
}

/** The input of psql. Throws `unsupported_dump`. */
export async function* readSql(step: RestoreStep): AsyncGenerator<Uint8Array> {
  const isPacked = (await formatOfFile(pathOfFile(step.ports, step.input))) === 'gzip'
  const content = readRestoreFile(step)
  const filter = new SqlFilter()
  let isFirst = true
  for await (const piece of isPacked ? unpack(content) : content) {
    yield filter.push(isFirst ? startOfSql(Buffer.from(piece)) : piece)
    isFirst = false
  }
  yield filter.end()
}

async function* unpack(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
  pipeline(packed, gunzip, () => undefined)
  try {
    yield* gunzip as AsyncIterable<Buffer>
  } catch (error) {
    if (!codeOf(error).startsWith('Z_')) throw error
    throw unsupported(`it is truncated or changed: ${messageOf(error)}`)
  }
}

/** Returns the first piece without a byte order mark. */
function startOfSql(piece: Buffer): Buffer {
  if (formatOfHead(piece.subarray(0, headBytes)) !== 'sql')
    throw unsupported('a gzip file has to hold plain SQL: unpack it first')
  const hasMark = piece.subarray(0, byteOrderMark.length).equals(byteOrderMark)
  return hasMark ? piece.subarray(byteOrderMark.length) : piece
}

/**
 * Loads the file as that role. Throws `restore_failed` with the line. psql also succeeds when its input is
 * truncated on the way: the last line that we send proves that psql received all of it, and that no
 * transaction is open.
 */
export async function loadSql(step: RestoreStep, role: Credentials): Promise<void> {
  const { ports, datastore, input, signal } = step
  const key = randomBytes(16).toString('hex')
  const argv = ['sh', '-c', psqlScript, 'sh', '-XAtq', '-v', 'ON_ERROR_STOP=1']
  const env = { ...postgresEnv(role), BERTH_KEY: key, PGCLIENTENCODING: 'UTF8' }
  let lastOutput: Buffer = Buffer.alloc(0)
  const output = async (piece: Uint8Array) => {
    lastOutput = Buffer.concat([lastOutput, piece]).subarray(-100)
  }
  const command = { argv, env }
  const sql = withProof(readSql(step), key)
  const run = { id: input.id, command, sharesNetwork: true, input: sql, output }
  const outcome = await runTool(ports, datastore, run, signal)
  const psqlError = /^psql:<stdin>:(\d+): (?:ERROR|FATAL|PANIC|error): +(.*)$/m.exec(outcome.stderr)
  if (outcome.exitCode !== 0 && psqlError) {
    const message = maskPassword(`line ${psqlError[1]}: ${psqlError[2]}`, datastore.credentials)
    throw new Failure('restore_failed', message.slice(0, maxMessageChars))
  }
  const complaint = findToolError(outcome, datastore)
  if (complaint !== null) throw new Failure('restore_failed', complaint)
  const proof = lastOutput.toString('latin1')
  if (proof.endsWith(`${key} open\n`))
    throw unsupported('its last transaction does not end: COMMIT is missing')
  if (!proof.endsWith(`${key} done\n`)) throw new Failure('docker_error', 'psql did not get all of the file')
}

/** In a transaction of its own, a statement starts at the same time as its transaction. */
async function* withProof(sql: AsyncIterable<Uint8Array>, key: string): AsyncGenerator<Uint8Array> {
  yield* sql
  const end = "case when now() = statement_timestamp() then 'done' else 'open' end"
  yield Buffer.from(`\nselect '${key} ' || ${end};\n`)
}
