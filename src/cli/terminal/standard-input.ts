// Input piped into a command, mostly secrets: arguments would be visible to every user of the host.
import { createReadStream, fstatSync, openSync, readlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { readBytes } from '../bounded-text.ts'
import { CliFailure, usageFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'

/** A password, a token or the value of a variable: the server accepts far less. */
const secretLimitMib = 1

/** All of stdin, without the line feed that `echo` appends; `onLineFeed` is called if there was one. */
export async function readStandardInput(
  { stdin }: Invocation,
  what: string,
  onLineFeed = () => {},
): Promise<string> {
  if (stdin.isTTY) {
    throw usageFailure(`${what} is read from standard input, which is a terminal`, `use a pipe: … | berth …`)
  }
  const text = decode(await readBytes(stdin, secretLimitMib, what), what)
  if (text.endsWith('\n')) onLineFeed()
  return text.replace(/\r?\n$/, '')
}

/** Reads a text file, or stdin for `-`, unchanged. */
export async function readFileOrInput(
  { stdin, cwd }: Invocation,
  path: string,
  limitMib: number,
  hintIfMissing?: string,
): Promise<string> {
  const source = path === '-' ? stdin : createReadStream(resolve(cwd, path))
  const bytes = await readBytes(source, limitMib, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && hintIfMissing)
      throw usageFailure(`there is no file ${path}`, hintIfMissing)
    throw error instanceof CliFailure ? error : usageFailure(`cannot read ${path}: ${fileProblem(error)}`)
  })
  return decode(bytes, path)
}

/** An invalid byte is refused: a replacement would alter a secret unnoticed. */
function decode(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw usageFailure(`${what} is not valid UTF-8`, 'save it as UTF-8')
  }
}

/**
 * Whether standard input is a file or a pipe that was made for this command. One that the parent process has
 * too is not: a loop of a script may be reading it.
 */
export function hasOwnInput({ stdin }: Invocation): boolean {
  if (stdin.fd === undefined) return false
  try {
    const input = fstatSync(stdin.fd)
    if (readlinkSync('/proc/self/fd/0') === readlinkSync(`/proc/${process.ppid}/fd/0`)) return false
    return input.isFile() || input.isFIFO() || input.isSocket()
  } catch {
    // Standard input is closed, or the system does not tell where it is from.
    return false
  }
}

export function openFile({ cwd }: Invocation, path: string): { stream: Readable; sizeBytes: number } {
  try {
    const file = openSync(resolve(cwd, path), 'r')
    return { stream: createReadStream('', { fd: file }), sizeBytes: fstatSync(file).size }
  } catch (error) {
    throw usageFailure(`cannot read ${path}: ${fileProblem(error)}`)
  }
}

export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  const known: Record<string, string> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a folder',
    EACCES: 'you may not read it',
  }
  return known[code ?? ''] ?? message
}
