// Moves each step of a build into a control group as soon as it runs, and reports which limit was reached.
// Only root may: a daemon that is not asks `berth-builds` for each build, by a socket of systemd.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { open, readFile, readlink, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { sleep } from '../../async/sleep.ts'
import { messageOf } from '../../errors.ts'
import { type BuildOwner, buildCgroup } from '../engine/names.ts'
import { createStepSearch, killOrphans } from './build-steps.ts'

export interface BuildGuard {
  limits: BuildLimits
  /** The reason why the limits are not enforced; null if they are. */
  notEnforcedReason: string | null
  run<T>(build: (watch: LimitWatch) => Promise<T>): Promise<T>
  /** Kills what lost builds left behind. Call this method only while no build runs. Never rejects. */
  endSteps(): Promise<void>
  close(): void
}

export interface LimitWatch {
  /** The limits that any build has reached since this build began. Never rejects. */
  reachedLimits(): Promise<ReachedLimits>
}

export interface ReachedLimits {
  limits: BuildLimits
  /** Null when this is unknown. */
  memory: boolean | null
  pids: boolean
}

/** A step runs unlimited for about this long. */
const pauseMs = 50
/** `berth-builds.socket` of systemd. */
export const buildsSocket = '/run/berth-builds.sock'

/** Never throws: what keeps the limits from being in force is in `notEnforcedReason`. */
export function openBuildGuard(
  engineHost: string,
  owner: BuildOwner,
  limits: BuildLimits,
  { isRoot = process.getuid?.() === 0, socket = buildsSocket, answerMs = 10_000 } = {},
): BuildGuard {
  if (!engineHost.startsWith('unix://')) {
    return openOwnGuard(owner, limits, () => 'the engine may run on another machine')
  }
  if (isRoot) return openOwnGuard(owner, limits, (name) => openBuildCgroup(name, limits))
  if (existsSync(socket)) return openDistantGuard(socket, { owner, limits, answerMs })
  return openOwnGuard(
    owner,
    limits,
    () => `berthd does not run as root, and there is no ${socket} (berth-builds.socket of systemd)`,
  )
}

/** `open` returns the reason why there is no group. */
export function openOwnGuard(
  owner: BuildOwner,
  limits: BuildLimits,
  open: (name: string) => BuildCgroup | string,
): BuildGuard {
  const opened = attemptTo(() => open(buildCgroup(owner)))
  const cgroup = typeof opened === 'string' ? null : opened
  const search = createStepSearch(owner)
  let running = 0
  const watchSteps = async () => {
    while (running > 0 && cgroup !== null) {
      for (const pid of await search.find()) await cgroup.adopt(pid)
      await sleep(pauseMs)
    }
  }
  return {
    limits,
    notEnforcedReason: typeof opened === 'string' ? opened : null,
    async run(build) {
      if (running++ === 0) void watchSteps()
      const before = cgroup?.counts()
      const reachedLimits = async () => {
        if (!cgroup || !before) return { limits, memory: null, pids: false }
        const { kills, refusals } = cgroup.counts()
        return { limits, memory: kills > before.kills, pids: refusals > before.refusals }
      }
      try {
        return await build({ reachedLimits })
      } finally {
        running--
      }
    },
    async endSteps() {
      await cgroup?.end()
      await killOrphans(owner)
    },
    close: () => cgroup?.remove(),
  }
}

function attemptTo(open: () => BuildCgroup | string): BuildCgroup | string {
  try {
    return open()
  } catch (error) {
    return `the control group could not be created: ${messageOf(error)}`
  }
}

/** The first line to `berth-builds`. Each line after it asks for the limits that were reached since. */
export interface GuardRequest {
  owner: BuildOwner
  limits: BuildLimits
  /** To kill what lost builds left behind, and nothing else. */
  isEnd: boolean
}

export type GuardReply = { reason: string | null } | ReachedLimits

/** A build runs on without limits when `berth-builds` fails: `notEnforcedReason` then says so. */
function openDistantGuard(
  socket: string,
  { owner, limits, answerMs }: { owner: BuildOwner; limits: BuildLimits; answerMs: number },
): BuildGuard {
  const guard: BuildGuard = {
    limits,
    notEnforcedReason: null,
    async run(build) {
      const line = await connect(false)
      const reachedLimits = async () => {
        const reached = (await line.ask({})) as ReachedLimits | null
        return reached ?? { limits, memory: null, pids: false }
      }
      try {
        return await build({ reachedLimits })
      } finally {
        line.close()
      }
    },
    endSteps: async () => void (await connect(true)).close(),
    close: () => undefined,
  }
  const connect = async (isEnd: boolean) => {
    const request = { owner: { prefix: owner.prefix, serverId: owner.serverId }, limits, isEnd }
    let line = openLine(socket, answerMs)
    let reply = await line.ask(request)
    if (reply === null) {
      // It was just ending, as it does after the last build: systemd starts it again.
      line = openLine(socket, answerMs)
      reply = await line.ask(request)
    }
    guard.notEnforcedReason =
      reply !== null && 'reason' in reply ? reply.reason : 'berth-builds.service of systemd does not answer'
    return line
  }
  return guard
}

/** One question at a time. The answer is null when the other side ends, fails, or is silent. */
function openLine(path: string, answerMs: number) {
  const socket = createConnection(path).on('error', () => socket.destroy())
  const lines = createInterface({ input: socket })
  // A socket that this side destroys has no end, for which the lines would wait.
  socket.on('close', () => lines.close())
  const answers = lines[Symbol.asyncIterator]()
  return {
    async ask(question: GuardRequest | Record<string, never>): Promise<GuardReply | null> {
      const late = setTimeout(() => socket.destroy(), answerMs)
      socket.write(`${JSON.stringify(question)}\n`)
      try {
        const { value, done } = await answers.next()
        return done ? null : (JSON.parse(value) as GuardReply)
      } catch {
        return null
      } finally {
        clearTimeout(late)
      }
    },
    close: () => socket.destroy(),
  }
}

// No engine from Docker 20.10 to 28 passes the `cgroupparent` of a build to BuildKit, so a step that has
// started is moved here. The limits hold without this process; only root can set them and move processes.

export interface BuildLimits {
  memoryMb: number | null
  cpus: number | null
  pids: number | null
}

export interface BuildCgroup {
  /** Moves all processes of the container whose first process is `pid`. Never rejects. */
  adopt(pid: number): Promise<void>
  counts(): LimitCounts
  /** Kills all processes of the group. Never rejects. */
  end(): Promise<void>
  /** Does not remove a group that still has processes. */
  remove(): void
}

interface LimitCounts {
  /** Processes killed at the memory limit since the group was created. */
  kills: number
  /** Forks refused at the process limit since the group was created. */
  refusals: number
}

interface CgroupPaths {
  cgroups: string
  proc: string
}

/** A mounted tree of control groups: one per controller, or one for all with version 2. */
interface Tree {
  /** The name in /proc/PID/cgroup; empty with version 2. */
  controller: string
  root: string
}

interface Setting {
  file: string
  value: string
  /** Some kernels are built without it. */
  isOptional?: boolean
}

const periodMicroseconds = 100_000
/** When the host is out of memory, the kernel kills a step first. */
const stepOomScore = '1000'
/** A process that forks while it is moved needs another round; a group at its process limit gains none. */
const maxRounds = 100

/** Throws if the groups cannot be created or limited. `name` is a path below the root of each tree. */
export function openBuildCgroup(
  name: string,
  limits: BuildLimits,
  paths: CgroupPaths = { cgroups: '/sys/fs/cgroup', proc: '/proc' },
): BuildCgroup {
  const isUnified = existsSync(join(paths.cgroups, 'cgroup.controllers'))
  const trees = isUnified ? [{ controller: '', root: paths.cgroups }] : v1Trees(paths.cgroups)
  const controls = join(paths.cgroups, dirname(name), 'cgroup.subtree_control')
  if (isUnified) writeFileSync(controls, '+memory +cpu +pids')
  for (const { root } of trees) mkdirSync(join(root, name), { recursive: true })
  for (const setting of isUnified ? unifiedSettings(limits) : v1Settings(limits)) {
    const path = join(rootOf(trees, setting), name, setting.file)
    if (!setting.isOptional || existsSync(path)) writeFileSync(path, setting.value)
  }
  const read = (file: string) =>
    readFileSync(join(rootOf(trees, { file }), name, file), { encoding: 'utf8', flag: 'r' })
  /** Forks that were refused while a step was being moved. */
  let refusedBefore = 0
  return {
    async adopt(pid) {
      refusedBefore += await adopt(trees, name, paths, limits, pid).catch(() => 0)
    },
    counts: () => ({
      kills: countOf(read(isUnified ? 'memory.events' : 'memory.oom_control'), 'oom_kill'),
      refusals: countOf(read('pids.events'), 'max') + refusedBefore,
    }),
    end: () => endAll(join(trees.at(-1)!.root, name)),
    remove() {
      for (const { root } of trees) {
        try {
          rmdirSync(join(root, name))
        } catch {
          // A step still runs in it. The next start uses the group again.
        }
      }
    },
  }
}

// pids comes last: processes are listed through that tree, so a process that has left it must already be in
// the other groups.
function v1Trees(cgroups: string): Tree[] {
  return ['memory', 'cpu', 'pids'].map((controller) => ({ controller, root: join(cgroups, controller) }))
}

function rootOf(trees: Tree[], { file }: Pick<Setting, 'file'>): string {
  const tree = trees.find(({ controller }) => controller === '' || file.startsWith(`${controller}.`))
  return tree!.root
}

function v1Settings({ memoryMb, cpus, pids }: BuildLimits): Setting[] {
  const bytes = memoryMb === null ? '-1' : String(memoryMb * 1024 * 1024)
  const quota = cpus === null ? -1 : Math.round(cpus * periodMicroseconds)
  return [
    // Memory and swap together may never be less than memory alone.
    { file: 'memory.memsw.limit_in_bytes', value: '-1', isOptional: true },
    { file: 'memory.limit_in_bytes', value: bytes },
    { file: 'memory.memsw.limit_in_bytes', value: bytes, isOptional: true },
    { file: 'pids.max', value: pids === null ? 'max' : String(pids) },
    { file: 'cpu.cfs_period_us', value: String(periodMicroseconds) },
    { file: 'cpu.cfs_quota_us', value: String(quota) },
    // A quarter of the CPU time of other groups, when several compete.
    { file: 'cpu.shares', value: '256' },
  ]
}

function unifiedSettings({ memoryMb, cpus, pids }: BuildLimits): Setting[] {
  const quota = cpus === null ? 'max' : Math.round(cpus * periodMicroseconds)
  return [
    { file: 'memory.max', value: memoryMb === null ? 'max' : String(memoryMb * 1024 * 1024) },
    { file: 'memory.swap.max', value: memoryMb === null ? 'max' : '0', isOptional: true },
    { file: 'pids.max', value: pids === null ? 'max' : String(pids) },
    { file: 'cpu.max', value: `${quota} ${periodMicroseconds}` },
    { file: 'cpu.weight', value: '25' },
  ]
}

/** Returns the number of forks that the limit refused during the move. */
async function adopt(
  trees: Tree[],
  name: string,
  paths: CgroupPaths,
  { pids }: BuildLimits,
  firstPid: number,
): Promise<number> {
  const tree = trees.at(-1)!
  const origin = pathIn(await readFile(join(paths.proc, String(firstPid), 'cgroup'), 'utf8'), tree)
  if (origin === null || origin === '/' || origin === `/${name}`) return 0
  const directory = join(tree.root, origin)
  const namespaceOf = (pid: number) => readlink(join(paths.proc, String(pid), 'ns/pid')).catch(() => null)
  let refusals = 0
  const namespace = await namespaceOf(firstPid)
  for (let round = 0; round < maxRounds; round++) {
    const members: number[] = []
    for (const pid of await readProcesses(directory)) {
      if ((await namespaceOf(pid)) === namespace) members.push(pid)
      // A group that the step shares with others, such as the engine, is not ours to limit.
      else if (existsSync(join(paths.proc, String(pid)))) return 0
    }
    if (members.length === 0) break
    const limit = pids === null ? 'max' : String(pids)
    if (round === 0) await writeFile(join(directory, 'pids.max'), limit).catch(() => {})
    // The next fork fails, which may end the step and remove its group before the count can be read.
    if (pids !== null && members.length >= pids) refusals ||= 1
    await move(members, trees, name, paths)
    refusals =
      countOf(await readFile(join(directory, 'pids.events'), 'utf8').catch(() => ''), 'max') || refusals
  }
  return refusals
}

function pathIn(memberships: string, { controller }: Tree): string | null {
  for (const line of memberships.split('\n')) {
    const [, controllers = '', path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (path !== undefined && controllers.split(',').includes(controller)) return path
  }
  return null
}

async function endAll(directory: string): Promise<void> {
  for (const pid of await readProcesses(directory)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has already ended.
    }
  }
}

async function readProcesses(directory: string): Promise<number[]> {
  const text = await readFile(join(directory, 'cgroup.procs'), 'utf8').catch(() => '')
  return text.split('\n').filter(Boolean).map(Number)
}

async function move(members: number[], trees: Tree[], name: string, { proc }: CgroupPaths): Promise<void> {
  const groups = await Promise.all(trees.map(({ root }) => open(join(root, name, 'cgroup.procs'), 'w')))
  try {
    for (const pid of members) {
      // Moving a process that has ended fails; that is fine.
      await writeFile(join(proc, String(pid), 'oom_score_adj'), stepOomScore).catch(() => {})
      for (const group of groups) await group.write(`${pid}\n`, null).catch(() => {})
    }
  } finally {
    await Promise.all(groups.map((group) => group.close()))
  }
}

function countOf(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
}
