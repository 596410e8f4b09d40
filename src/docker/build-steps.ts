// The steps of our builds, by their first processes. A step carries no label; a name in its /etc/hosts marks
// it. Only root on the engine's own machine can see them; for everybody else there are none.
import { constants } from 'node:fs'
import { open, readdir, readFile } from 'node:fs/promises'
import { buildHost, type Owner } from './names.ts'

/** A hosts file of ours is shorter. */
const hostsBytes = 64 * 1024

export interface StepSearch {
  /** The process ids of the first process of each step that runs now. Never rejects. */
  find(): Promise<number[]>
}

/** One search remembers the processes that cannot begin a step, so that repeating it costs little. */
export function createStepSearch(owner: Owner): StepSearch {
  const host = buildHost(owner)
  let others = new Set<string>()
  return {
    async find() {
      const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
      others = new Set(names.filter((name) => others.has(name)))
      const looks = names.map(async (name) => {
        if (others.has(name)) return []
        const kind = await kindOf(Number(name), host).catch(() => 'other' as const)
        if (kind === 'other') others.add(name)
        return kind === 'step' ? [Number(name)] : []
      })
      return (await Promise.all(looks)).flat()
    },
  }
}

// A container that is being started has no hosts file yet: it is looked at again.
async function kindOf(pid: number, host: string): Promise<'step' | 'container' | 'other'> {
  if (!(await isFirstOfContainer(pid))) return 'other'
  const hosts = await readHosts(pid).catch(() => '')
  return hosts.includes(host) ? 'step' : 'container'
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
