// The processes of a step outlive an engine that is killed: for ever those of BuildKit, which no engine knows
// afterwards, and now and then those of a container. We know them by a name in their /etc/hosts. Mind: only
// root on the engine's own machine can see and end them; for everybody else there are none.
import { constants } from 'node:fs'
import { open, readdir, readFile } from 'node:fs/promises'
import { buildHost, type Owner } from './names.ts'

/** A hosts file of ours is shorter. */
const hostsBytes = 64 * 1024

/** Ends every step of our builds: to be called while none of them is wanted. Never rejects. */
export async function killOrphans(owner: Owner): Promise<void> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name))
  await Promise.all(pids.map((pid) => killIfStep(Number(pid), buildHost(owner))))
}

/** All processes of a step end with its first one. */
async function killIfStep(pid: number, host: string): Promise<void> {
  try {
    if (!(await isFirstOfContainer(pid)) || !(await readHosts(pid)).includes(host)) return
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile, or is none of our business.
  }
}

async function isFirstOfContainer(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return /^NSpid:\t\d+\t(\d+\t)*1$/m.test(status)
}

// What is at that path is up to the container: nothing of it may be followed, waited for, or fill the memory.
async function readHosts(pid: number): Promise<string> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
  const file = await open(`/proc/${pid}/root/etc/hosts`, flags)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(hostsBytes), 0, hostsBytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
