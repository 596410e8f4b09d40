// The steps of our builds, by their first processes. A step carries no label; a name in its /etc/hosts marks
// it. Only root on the engine's own machine can see them; for others the list is empty.
import { constants } from 'node:fs'
import { open, readdir, readFile } from 'node:fs/promises'
import { type BuildOwner, buildHost } from '../engine/names.ts'

/** The hosts files that Berth generates are shorter. */
const hostsBytes = 64 * 1024

interface StepSearch {
  /** The process ids of the first process of each step that runs now. Never rejects. */
  find(): Promise<number[]>
}

/** Remembers the processes that cannot be the first of a step, so that repeating the search costs little. */
export function createStepSearch(owner: BuildOwner): StepSearch {
  const host = buildHost(owner)
  let others = new Set<string>()
  return {
    async find() {
      const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
      others = new Set(names.filter((name) => others.has(name)))
      const looks = names.map(async (name) => {
        if (others.has(name)) return []
        const kind = await readKind(Number(name), host).catch(() => 'other' as const)
        if (kind === 'other') others.add(name)
        return kind === 'step' ? [Number(name)] : []
      })
      return (await Promise.all(looks)).flat()
    },
  }
}

/** A container that is starting still shows the files of the host: it is checked again. */
async function readKind(pid: number, host: string): Promise<'step' | 'container' | 'other'> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  if (!isFirstOfContainer(status)) return 'other'
  if (/^Name:\t(runc|crun)/.test(status)) return 'container'
  const hosts = await readHosts(`/proc/${pid}/root/etc/hosts`).catch(() => null)
  if (hosts === null) return 'container'
  return hosts.includes(host) ? 'step' : 'other'
}

function isFirstOfContainer(status: string): boolean {
  return /^NSpid:\t\d+\t(\d+\t)*1$/m.test(status)
}

// A container may control this path: follow no link, do not block, and read a bounded number of bytes.
async function readHosts(path: string): Promise<string> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
  const file = await open(path, flags)
  try {
    const length = Math.min((await file.stat()).size, hostsBytes)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

// The processes of a build step can outlive a killed engine, and no engine knows them afterwards.

/** Kills every step of this server's builds. Call it only while no build should be running. Never rejects. */
export async function killOrphans(owner: BuildOwner): Promise<void> {
  for (const pid of await createStepSearch(owner).find()) {
    try {
      // All processes of a step end with its first one.
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has already ended.
    }
  }
}
