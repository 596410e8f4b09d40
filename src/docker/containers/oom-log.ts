// The kernel's log of out-of-memory kills, the only evidence if Docker missed one. Reading it needs root;
// without root, no kill is reported.
import { constants, type FileHandle, open } from 'node:fs/promises'

const path = '/dev/kmsg'
/** One read gives one record, and no record is longer. */
const recordBytes = 8192

/** Whether the kernel killed a process of that container at its memory limit, as far back as it remembers. */
export async function wasKilledForMemory(containerId: string): Promise<boolean> {
  const log = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null)
  if (log === null) return false
  try {
    for await (const record of records(log)) {
      if (record.includes('oom-kill:') && record.includes(containerId)) return true
    }
    return false
  } finally {
    await log.close()
  }
}

async function* records(log: FileHandle): AsyncGenerator<string> {
  const buffer = Buffer.alloc(recordBytes)
  for (;;) {
    try {
      const { bytesRead } = await log.read(buffer, 0, recordBytes, null)
      yield buffer.toString('utf8', 0, bytesRead)
    } catch (error) {
      // EPIPE means that a record was overwritten before it was read: continue with the next one. Any other
      // error ends the log.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') return
    }
  }
}
