// One daemon per data directory. The lock is an flock(2) on an open file: the kernel releases it when the
// process ends in any way. The file itself carries no state and is never removed.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { StorageError } from './errors.ts'

export interface DirectoryLock {
  release(): void
}

/**
 * Locks a data directory for this process without waiting. Throws `data_directory_in_use`, and
 * `lock_unavailable` when the system cannot lock. Node opens files close-on-exec, so child processes of the
 * daemon do not hold the lock.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const path = join(directory, 'lock')
  const file = fs.openSync(path, 'a+', 0o600)
  try {
    if (!takeLock(file)) throw inUse(directory, path)
    writeHolder(file)
  } catch (error) {
    fs.closeSync(file)
    throw error
  }
  return { release: once(() => fs.closeSync(file)) }
}

/** The process that holds the lock; null if none does. Takes no lock: a daemon may be about to start. */
export function lockHolder(directory: string): number | null {
  const path = join(directory, 'lock')
  if (!fs.existsSync(path)) return null
  const { ino } = fs.statSync(path)
  const isHeld = new RegExp(`FLOCK .*:${ino} `).test(fs.readFileSync('/proc/locks', 'latin1'))
  const pid = Number(fs.readFileSync(path, 'latin1').trim())
  return isHeld && pid > 0 ? pid : null
}

/** Node has no flock(2). `flock` of util-linux locks the inherited file; our descriptor keeps the lock. */
function takeLock(file: number): boolean {
  const { error, status, stderr } = spawnSync('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', file],
    encoding: 'utf8',
    timeout: 10_000,
  })
  if (status === 0 || status === 1) return status === 0
  const reason = error?.message ?? (stderr.trim() || `flock ended with ${status}`)
  throw new StorageError('lock_unavailable', `The data directory cannot be locked: ${reason}`)
}

/** Informational: only the lock itself counts, and a full disk must not prevent the start. */
function writeHolder(file: number): void {
  try {
    fs.ftruncateSync(file)
    fs.writeSync(file, `${process.pid}\n`)
  } catch {
    // Error messages then do not name the process that holds the lock.
  }
}

function inUse(directory: string, path: string): StorageError {
  const pid = /^\d+$/.exec(fs.readFileSync(path, 'latin1').trim())?.[0]
  const holder = pid === undefined ? 'another process' : `process ${pid}`
  return new StorageError('data_directory_in_use', `The data directory ${directory} is in use by ${holder}`)
}

function once(run: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    run()
  }
}
