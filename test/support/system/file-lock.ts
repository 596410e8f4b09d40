// A lock between processes. The kernel holds it on the open file, so a killed process leaves none behind; the
// file itself stays and has no meaning.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Waits for the lock at `path`, runs the work, and releases it. Works between processes and within one. An
 * abort ends the wait with the signal's reason.
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted()
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, 'a')
  try {
    await lock(file.fd, signal)
    return await work()
  } finally {
    await file.close()
  }
}

// Node has no flock(2). util-linux's program locks an inherited descriptor: the lock belongs to the open file
// that both share, and stays when the program has ended.
async function lock(fd: number, signal: AbortSignal | undefined): Promise<void> {
  const helper = spawn('flock', ['3'], { signal, stdio: ['ignore', 'ignore', 'inherit', fd] })
  const [code] = await once(helper, 'exit').catch((error: unknown) => {
    signal?.throwIfAborted()
    throw error
  })
  if (code !== 0) throw new Error(`flock ended with ${code}`)
}
