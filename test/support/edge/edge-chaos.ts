// Faults of an edge, its container and its daemon, and the checks that must pass soon afterwards.
// The processes of a container are also visible on the host, and are killed by their host pid.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Body } from '../daemon/api.ts'
import type { TestService } from '../daemon/suite.ts'
import { type EdgeSite, openDocker } from './edge-site.ts'

/** The documented limit. */
const backWithinMs = 60_000
const freezeMs = 5_000

interface EdgeProcesses {
  master: number
  workers: number[]
}

/** The processes that read their configuration below this directory; null if there are none. */
export function findEdge(dataDir: string): EdgeProcesses | null {
  const configuration = join(dataDir, 'edge', 'haproxy.cfg')
  const isOurs = (pid: string) => read(`/proc/${pid}/cmdline`).split('\0').includes(configuration)
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOurs(name))
  const parentOf = (pid: string) => /^PPid:\s*(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? ''
  const workers = pids.filter((pid) => pids.includes(parentOf(pid))).map(Number)
  const [master] = pids.map(Number).filter((pid) => !workers.includes(pid))
  return master === undefined ? null : { master, workers }
}

/** All descendants. */
export function childrenOf(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').map(Number).filter(Boolean)
  return children.flatMap((child) => [child, ...childrenOf(child)])
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

type Mishap = (site: EdgeSite) => Promise<unknown>

const container = async ({ daemon }: EdgeSite) => (await openDocker()).getContainer(`${daemon.prefix}-edge`)

/** The faults by name. */
export const mishaps = {
  'the worker of HAProxy is killed': async ({ daemon }) =>
    process.kill(findEdge(daemon.dataDir)!.workers[0]!, 'SIGKILL'),
  'HAProxy is killed': async ({ daemon }) => process.kill(findEdge(daemon.dataDir)!.master, 'SIGKILL'),
  'HAProxy hangs for five seconds': async ({ daemon }) => {
    const { master, workers } = findEdge(daemon.dataDir)!
    for (const pid of [master, ...workers]) process.kill(pid, 'SIGSTOP')
    await sleep(freezeMs)
    for (const pid of [master, ...workers]) process.kill(pid, 'SIGCONT')
  },
  'the edge container is killed': async (site) => (await container(site)).kill(),
  'the edge container is removed': async (site) => (await container(site)).remove({ force: true }),
} satisfies Record<string, Mishap>

export type MishapName = keyof typeof mishaps

/**
 * Resolves when each service responds with its text from one version only, and the records agree. Fails if
 * that takes longer than the documented limit.
 */
export async function requireWhole(site: EdgeSite, wanted: Map<TestService, string>): Promise<void> {
  const since = performance.now()
  for (;;) {
    const faults = await findFaults(site, wanted).catch((error: Error) => [error.message])
    if (faults.length === 0) return
    assert.ok(performance.now() - since < backWithinMs, faults.join('; '))
    await sleep(50)
  }
}

async function findFaults(site: EdgeSite, wanted: Map<TestService, string>): Promise<string[]> {
  const { api } = site.daemon
  const edge: Body = await api.get('/edge')
  const faults = edge.status === 'serving' && !edge.error ? [] : [`the edge is ${edge.status}: ${edge.error}`]
  for (const [service, text] of wanted) {
    const { name } = service
    const { status, body } = await site.page(service)
    if (status !== 200 || body !== text) faults.push(`${name} answers ${status} ${body.slice(0, 80)}`)
    const { live_deploy_id: live, state } = await api.get(`/services/${name}`)
    if (state !== 'live' && !(await hasCrashed(site, name))) faults.push(`${name} is ${state}`)
    const containers = await site.containersOf(service)
    const label = containers.map(({ deployId, state }) => `${deployId} ${state}`).join()
    if (label !== `${live} running`) faults.push(`${name} has ${label || 'no container'}, live is ${live}`)
    const deploys: Body[] = await api.get(`/services/${name}/deploys`)
    const others = deploys.filter(({ id }) => id !== live).map((deploy) => deploy.status)
    const hasEnded = (status: string) => ['deactivated', 'failed', 'canceled'].includes(status)
    if (!others.every(hasEnded)) faults.push(`${name} has deploys that are ${others.join()}`)
  }
  const ready = [...wanted].length
  if (edge.routes?.ready !== ready) faults.push(`the edge counts ${edge.routes?.ready} of ${ready}`)
  return faults
}

/** Restarts by Docker count as crashes: then `degraded` is correct. */
async function hasCrashed({ daemon }: EdgeSite, name: string): Promise<boolean> {
  const { state, reason } = await daemon.api.get(`/services/${name}/status`)
  return state === 'live' || /ended \d+ times within 5 minutes/.test(reason)
}
