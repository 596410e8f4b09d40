// A lock between processes of one user: a file that only one of them can create.
import { closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { sleep } from '../../async/sleep.ts'
import { CliFailure } from '../failure.ts'

const retryMs = 20
const timeoutMs = 10_000
/** The lock is held for milliseconds. An older lock was left behind by a process that died. */
const staleMs = 5000

/** Throws CliFailure if the lock is not available within 10 s, and the errors of the work. */
export async function withLock<T>(path: string, work: () => T): Promise<T> {
  for (const end = Date.now() + timeoutMs; !tryLock(path); await sleep(retryMs)) {
    if (Date.now() > end) throw new CliFailure(`${path} is in the way`, { hint: 'remove it' })
    if (isStale(path)) rmSync(path, { force: true })
  }
  try {
    return work()
  } finally {
    rmSync(path, { force: true })
  }
}

function tryLock(path: string): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'wx', 0o600))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw new CliFailure(`cannot write ${path}: ${(error as Error).message}`)
  }
}

function isStale(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && Date.now() - stats.mtimeMs > staleMs
}
