// Small JSON files of the user: written atomically, and readable by the user only.
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { CliFailure } from '../failure.ts'

/** The content of the file; undefined if it does not exist. Throws if it is not JSON. */
export function readJsonFile(path: string): unknown {
  const text = readIfThere(path)
  return text === undefined ? undefined : parseJsonOf(path, text)
}

export function parseJsonOf(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CliFailure(`${path} is not JSON`, { hint: 'fix it, or remove it' })
  }
}

/** Replaces the file atomically. The file gets mode 0600, and newly created folders get mode 0700. */
export function writeJsonFile(path: string, value: unknown): void {
  const draft = `${path}.${process.pid}.new`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = openSync(draft, 'wx', 0o600)
    try {
      writeSync(file, `${JSON.stringify(value, null, 2)}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new CliFailure(`cannot write ${path}: ${(error as Error).message}`)
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CliFailure(`cannot read ${path}: ${(error as Error).message}`)
  }
}

// The specification requires a relative path in the variable to be ignored.
export function configFolder({ XDG_CONFIG_HOME, HOME }: NodeJS.ProcessEnv): string {
  const isUsable = XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME)
  return join(isUsable ? XDG_CONFIG_HOME : join(HOME || homedir(), '.config'), 'berth')
}
