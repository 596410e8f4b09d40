// The Docker engine of the tests: an existing one, or one that is installed and started.
// An engine started here keeps running after the tests, for the next run and for the user.
import { spawn } from 'node:child_process'
import { existsSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { hasApt, installPackages, isRoot } from '../system/apt.ts'
import { commandEnv, hasCommand, run } from '../system/command.ts'
import { withFileLock } from '../system/file-lock.ts'
import { MissingPrerequisite } from '../system/missing-prerequisite.ts'
import { requestEngine } from './engine-request.ts'

const defaultAddress = 'unix:///var/run/docker.sock'
const lockFile = '/run/berth-test-engine.lock'
const logFile = '/var/log/berth-test-dockerd.log'
const startTimeoutMs = 60_000

/** The address of a reachable engine. Throws `MissingPrerequisite`. */
export async function ensureEngine(): Promise<string> {
  const address = process.env.DOCKER_HOST || defaultAddress
  const silence = await pingEngine(address)
  if (silence === null) return address
  refuseWhatOnlyAPersonCanDo(address, silence)
  await withFileLock(lockFile, async () => {
    if ((await pingEngine(address)) === null) return
    say(`No Docker engine answers at ${address}.`)
    await installWhatIsMissing()
    await startEngine(address)
  })
  return address
}

/** Null if the engine responds, else the reason. */
export async function pingEngine(address: string): Promise<string | null> {
  try {
    const { status } = await requestEngine(address, '/_ping', { timeoutMs: 5_000 })
    return status === 200 ? null : `HTTP ${status}`
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

function refuseWhatOnlyAPersonCanDo(address: string, silence: string): void {
  const problem = `No Docker engine answers at ${address} (${silence}).`
  if (silence === 'EACCES') {
    throw new MissingPrerequisite(
      `${problem}\nThis user may not open it: sudo usermod -aG docker "$USER", then log in again.`,
    )
  }
  if (address !== defaultAddress) {
    throw new MissingPrerequisite(`${problem}\nStart it, or unset DOCKER_HOST to have one started here.`)
  }
  if (!isRoot()) {
    throw new MissingPrerequisite(
      `${problem}\nInstall one: sudo apt-get install docker.io (as root this is done for you)`,
    )
  }
}

async function installWhatIsMissing(): Promise<void> {
  const packages = await missingPackages()
  if (packages.length === 0) return
  if (!hasApt()) {
    const problem = `There is no apt to install what is missing: ${packages.join(', ')}.`
    throw new MissingPrerequisite(`${problem}\nSee https://docs.docker.com/engine/install/`)
  }
  say(`Installing ${packages.join(', ')} with apt-get …`)
  await installPackages(packages).catch((error: Error) => {
    throw new MissingPrerequisite(`apt-get could not install them. ${error.message}`)
  })
  // Debian 13 has the command in a package of its own.
  if (!hasCommand('docker')) await installPackages(['docker-cli'])
}

async function missingPackages(): Promise<string[]> {
  const packages: string[] = []
  if (!hasCommand('dockerd')) packages.push((await hasDockersOwnClient()) ? 'docker-ce' : 'docker.io')
  if (!hasCommand('iptables')) packages.push('iptables')
  if (!hasControlGroups() && !hasCommand('cgroupfs-mount')) packages.push('cgroupfs-mount')
  return packages
}

// Docker's own packages conflict with Debian's.
async function hasDockersOwnClient(): Promise<boolean> {
  const response = await run('dpkg-query', ['--status', 'docker-ce-cli']).catch(() => '')
  return response.includes('Status: install ok installed')
}

function hasControlGroups(): boolean {
  return existsSync('/sys/fs/cgroup') && readdirSync('/sys/fs/cgroup').length > 0
}

async function startEngine(address: string): Promise<void> {
  const hasSystemd = existsSync('/run/systemd/system')
  const engine = hasSystemd ? await startWithSystemd() : await startByHand()
  const deadline = Date.now() + startTimeoutMs
  while ((await pingEngine(address)) !== null) {
    const ended = engine.hasEnded()
    if (ended || Date.now() > deadline)
      throw new MissingPrerequisite(`dockerd does not respond. ${engine.lastWords()}`)
    await delay(100)
  }
}

interface StartedEngine {
  hasEnded(): boolean
  lastWords(): string
}

async function startWithSystemd(): Promise<StartedEngine> {
  say('Starting docker.service …')
  await run('systemctl', ['start', 'docker'])
  return { hasEnded: () => false, lastWords: () => 'See: journalctl -u docker' }
}

async function startByHand(): Promise<StartedEngine> {
  const lastWords = () =>
    `The end of ${logFile}:\n${readFileSync(logFile, 'utf8').split('\n').slice(-12).join('\n')}`
  if (isStartingAlready()) return { hasEnded: () => false, lastWords }
  if (!hasControlGroups()) await run('cgroupfs-mount', [])
  say(`Starting dockerd in the background, its log is ${logFile} …`)
  const log = openSync(logFile, 'a')
  const engine = spawn('dockerd', [], {
    detached: true,
    stdio: ['ignore', log, log],
    cwd: '/',
    env: commandEnv,
  })
  engine.unref()
  return { hasEnded: () => engine.exitCode !== null || engine.signalCode !== null, lastWords }
}

// A pid file outlives a power loss, and its pid may belong to another process by now. dockerd would refuse to
// start because of the first file and wait forever for the containerd of the second.
function isStartingAlready(): boolean {
  for (const program of ['dockerd', 'containerd']) {
    const pidFile = program === 'dockerd' ? '/run/docker.pid' : '/run/docker/containerd/containerd.pid'
    if (!existsSync(pidFile)) continue
    if (programOf(readFileSync(pidFile, 'utf8').trim()) !== program) rmSync(pidFile)
    else if (program === 'dockerd') return true
  }
  return false
}

function programOf(pid: string): string | null {
  const path = `/proc/${pid}/comm`
  return pid !== '' && existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}

function say(text: string): void {
  console.error(text)
}
