// Another process that holds LMDB's only write lock, so that commits of the store under test hang.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

const program = `
  import { writeSync } from 'node:fs'
  import { open } from 'lmdb'
  const root = open({ path: process.argv.at(-1), encoding: 'string', maxDbs: 32 })
  root.transactionSync(() => {
    writeSync(1, 'holds\\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120_000)
  })
`

/** Blocks every commit until `release`: LMDB frees the lock of a killed process. */
export async function holdWriteLock(t: TestContext, directory: string) {
  const options = ['--input-type=module', '--eval', program, join(directory, 'store')]
  const cwd = join(import.meta.dirname, '../../..')
  const holder = spawn(process.execPath, options, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(holder, 'exit')
  const release = async () => {
    holder.kill('SIGKILL')
    await ended
  }
  t.after(release)
  await once(createInterface(holder.stdout), 'line')
  return { release }
}
