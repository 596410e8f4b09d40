// A host of its own: systemd as process 1, with own processes, network and control groups. Docker runs
// in it as well. It has no way to other networks. Ends with the test.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { installPackages } from '../system/apt.ts'
import { commandEnv, hasCommand, run } from '../system/command.ts'
import type { Scope } from '../system/directory.ts'

export interface Host {
  /** Its root directory, as a path of this machine. */
  readonly root: string
  /** Of its systemd, as a process of this machine. */
  readonly pid: number
  /** Runs a program in it, and returns its output. Rejects with its error output if it fails. */
  run(command: string, ...args: string[]): Promise<string>
  /** Runs lines of a shell, up to the first one that fails. */
  script(lines: string): Promise<string>
  /** Shuts it down in order. */
  powerOff(): Promise<void>
  /** Ends all of its processes at once, as a power cut does. */
  kill(): Promise<void>
}

const controlGroups = '/sys/fs/cgroup'
/** Each controller has a tree of its own, and systemd in the host sees the groups of this machine. */
const isVersion1 = !existsSync(join(controlGroups, 'cgroup.controllers'))
const bootMs = 120_000

/** Starts the host whose root is in this folder, again if it has ended. Resolves when it has booted. */
export async function bootHost(t: Scope, root: string): Promise<Host> {
  if (!hasCommand('systemd-nspawn')) await installPackages(['systemd-container'])
  const name = `berth-${randomBytes(4).toString('hex')}`
  const groups = isVersion1 ? makeGroups(name) : []
  const nspawn = within(groups, () =>
    spawn('systemd-nspawn', nspawnArgs(name, root), { stdio: ['ignore', 'pipe', 'pipe'], env: commandEnv }),
  )
  const said = Promise.all([text(nspawn.stdout), text(nspawn.stderr)])
  const ended = once(nspawn, 'exit')
  const kill = async () => {
    const pid = childOf(nspawn)
    if (pid !== null) process.kill(pid, 'SIGKILL')
    await ended
  }
  t.after(async () => {
    await kill()
    for (const group of groups) removeGroup(group)
  })
  const pid = await booted(nspawn).catch(async (error: Error) => {
    await kill()
    throw new Error(`${error.message}\n${(await said).join('').slice(-4000)}`)
  })
  const inside = ['--target', String(pid), '--all', '--']
  if (isVersion1) await run('nsenter', [...inside, 'sh', '-c', writableGroups])
  return {
    root,
    pid,
    async powerOff() {
      await run('nsenter', [...inside, 'systemctl', 'poweroff'])
      await ended
    },
    kill,
    run: (command, ...args) => run('nsenter', [...inside, command, ...args]),
    script: (lines) => run('nsenter', [...inside, 'sh', '-ec', lines]),
  }
}

function nspawnArgs(name: string, root: string): string[] {
  return [
    '--boot',
    '--quiet',
    `--machine=${name}`,
    `--directory=${root}`,
    '--private-network',
    '--link-journal=no',
    '--register=no',
    // Without systemd on this machine no service gives out units.
    ...(existsSync('/run/systemd/system') ? [] : ['--keep-unit']),
    // For Docker.
    '--capability=all',
    '--system-call-filter=add_key keyctl bpf',
    // systemd 256 and newer would not boot with control groups of version 1.
    'SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1',
  ]
}

/** nspawn leaves only systemd's own tree writable; Docker needs the others. */
const writableGroups = `
for tree in ${controlGroups} ${controlGroups}/*/; do mount -o remount,bind,rw $tree; done`

async function booted(nspawn: ChildProcess): Promise<number> {
  const deadline = Date.now() + bootMs
  let state = 'no process'
  while (Date.now() < deadline && nspawn.exitCode === null) {
    const pid = childOf(nspawn)
    if (pid !== null) {
      const question = 'systemctl is-system-running --wait; :'
      const asking = ['--target', String(pid), '--all', '--', 'sh', '-c', question]
      state = (await run('nsenter', asking).catch(() => state)).trim()
      if (state === 'running' || state === 'degraded') return pid
    }
    await sleep(100)
  }
  throw new Error(`the host did not boot: ${state}`)
}

function childOf({ pid }: ChildProcess): number | null {
  try {
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), 10) || null
  } catch {
    return null
  }
}

function makeGroups(name: string): string[] {
  const trees = readdirSync(controlGroups).map((tree) => join(controlGroups, tree))
  return trees
    .filter((tree) => existsSync(join(tree, 'cgroup.procs')))
    .map((tree) => {
      const group = join(tree, name)
      mkdirSync(group)
      for (const file of ['cpuset.cpus', 'cpuset.mems'])
        if (existsSync(join(tree, file))) writeFileSync(join(group, file), readFileSync(join(tree, file)))
      return group
    })
}

/** A child is born into the groups of its parent: this process is in them for the moment of its birth. */
function within<T>(groups: string[], start: () => T): T {
  const home = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n')
  try {
    for (const group of groups) enter(group)
    return start()
  } finally {
    if (groups.length > 0) for (const line of home) enter(groupOf(line))
  }
}

/** `4:memory:/path`, `9:name=systemd:/path`, `0::/path`. */
function groupOf(line: string): string {
  const [, tree = '', path = ''] = /^\d+:(?:name=)?([^:]*):(.*)$/.exec(line) ?? []
  return join(controlGroups, tree || 'unified', path)
}

function enter(group: string): void {
  if (existsSync(group)) writeFileSync(join(group, 'cgroup.procs'), String(process.pid))
}

/** From the innermost one. The kernel keeps an ended process in its group for a moment. */
function removeGroup(group: string): void {
  const entries = readdirSync(group, { recursive: true, withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory())
  for (const { parentPath, name } of folders.reverse()) rmdirSync(join(parentPath, name))
  rmdirSync(group)
}
