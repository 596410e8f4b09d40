// berth-builds: puts the limits of builds in force for a berthd that is not root. systemd starts it as root
// with the first build, and it ends after the last. It finds the processes itself: only steps of builds.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import {
  type BuildGuard,
  type GuardReply,
  type GuardRequest,
  openBuildCgroup,
  openOwnGuard,
} from './docker/build/build-guard.ts'
import { messageOf } from './errors.ts'

const idleMs = 10_000
/** The first descriptor that systemd passes. */
const listenDescriptor = 3
const guards = new Map<string, BuildGuard>()
const group = delegatedGroup()

const server = createServer((socket) => {
  idle.refresh()
  serve(socket).catch((error: unknown) => {
    process.stderr.write(`<4>${messageOf(error)}\n`)
    socket.destroy()
  })
})
const idle = setTimeout(() => {
  server.getConnections((_, count) => {
    if (count > 0) return idle.refresh()
    for (const guard of guards.values()) guard.close()
    process.exit(0)
  })
}, idleMs)
server.listen({ fd: listenDescriptor })

async function serve(socket: Socket): Promise<void> {
  socket.on('error', () => socket.destroy())
  const lines = createInterface({ input: socket })
  const say = (reply: GuardReply) => socket.write(`${JSON.stringify(reply)}\n`)
  const questions = lines[Symbol.asyncIterator]()
  const { value: first, done } = await questions.next()
  if (done) return
  const { owner, limits, isEnd } = JSON.parse(first) as GuardRequest
  const guard = guardOf({ owner, limits })
  if (isEnd) await guard.endSteps()
  await guard.run(async (watch) => {
    say({ reason: guard.notEnforcedReason })
    while (!(await questions.next()).done) say(await watch.reachedLimits())
  })
}

/** Other limits are those of a berthd that was started again. */
function guardOf({ owner, limits }: Omit<GuardRequest, 'isEnd'>): BuildGuard {
  if (!/^[a-z0-9-]+\/[a-z0-9-]+$/i.test(`${owner.prefix}/${owner.serverId}`)) throw new Error('no owner')
  const key = JSON.stringify([owner.prefix, owner.serverId, limits])
  const known = guards.get(key)
  if (known) return known
  const guard = openOwnGuard(owner, limits, (name) => openBuildCgroup(`${group}${name}`, limits))
  guards.set(key, guard)
  return guard
}

/**
 * With version 2, the group of this unit, which systemd leaves to it (`Delegate=`): a group at the top could
 * lose its controllers. This process leaves it for one below: a group with processes cannot limit others.
 */
function delegatedGroup(): string {
  const unified = /^0::\/(.+)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
  try {
    mkdirSync(`/sys/fs/cgroup/${unified}/program`)
    writeFileSync(`/sys/fs/cgroup/${unified}/program/cgroup.procs`, String(process.pid))
    return `${unified}/`
  } catch {
    // Version 1 has no such rules.
    return ''
  }
}
