// The steps of a job run, how to bring a run to each, and a daemon that can be killed exactly there.
// The daemon reaches its engine through a proxy that holds a request; the engine never sees requests held
// at the kill.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type Docker from 'dockerode'
import type { ContainerEvents } from '../docker/container-events.ts'
import { type DelayingProxy, openDelayingProxy } from '../docker/delaying-proxy.ts'
import { type HoldingProxy, openHoldingProxy } from '../docker/holding-proxy.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { launchDaemon, type TestDaemon } from './daemon.ts'
import { enginePath, openDocker, requestJob, untilLogged } from './jobs.ts'
import { until } from './service.ts'

export interface JobSite {
  daemon: TestDaemon
  docker: Docker
  door: HoldingProxy
  /** The proxy to the engine. */
  late: DelayingProxy
  /** Drops the held requests. */
  restart(end?: 'kill' | 'stop', meanwhile?: () => Promise<unknown>): Promise<void>
}

export async function openJobSite(t: Scope): Promise<JobSite> {
  const folder = temporaryDirectory(t)
  const [path, between] = [join(folder, 'docker.sock'), join(folder, 'late.sock')]
  const late = await openDelayingProxy(t, between, await enginePath())
  const door = await openHoldingProxy(t, { path }, { path: between })
  const daemon = await launchDaemon({ args: [`--docker=unix://${path}`, '--keep-images=1'] })
  t.after(() => daemon.remove())
  return {
    daemon,
    docker: await openDocker(),
    door,
    late,
    async restart(end = 'kill', meanwhile) {
      await daemon[end]()
      door.release()
      await meanwhile?.()
      await daemon.start()
    },
  }
}

export async function isHeld(door: HoldingProxy, pattern: RegExp): Promise<void> {
  await until(`${pattern} to be held`, async () => door.held(pattern) > 0)
}

const create = /^POST \S+\/containers\/create/
const start = /^POST \S+\/start/
const look = /^GET \S+\/containers\/[0-9a-f]{64}\/json/
const stop = /^POST \S+\/stop/
const remove = /^DELETE \S+\/containers\//

/** Logs its start to a file, so that a second start would show. */
const begin = 'echo $BERTH_JOB_ID >>/data/begun; echo begun'

/** Brings a run to the step at which its daemon is killed. */
export const steps: Record<
  string,
  (site: JobSite, name: string, events: ContainerEvents) => Promise<string>
> = {
  async 'before its container is made'(site, name) {
    site.door.hold(create)
    const { id } = await requestJob(site.daemon.api, name, { command: `${begin}; exit 5` })
    await isHeld(site.door, create)
    return id
  },
  async 'before its container is started'(site, name) {
    site.door.hold(start)
    const { id } = await requestJob(site.daemon.api, name, { command: `${begin}; exit 5` })
    await isHeld(site.door, start)
    return id
  },
  async 'before its start is written down'(site, name, events) {
    site.door.hold(start)
    const { id } = await requestJob(site.daemon.api, name, { command: `${begin}; sleep 1; exit 5` })
    await isHeld(site.door, start)
    site.door.release()
    site.door.hold(look)
    await events.until('start', id)
    await isHeld(site.door, look)
    assert.equal((await site.daemon.api.get(`/jobs/${id}`)).started_at, null)
    return id
  },
  async 'while it runs'(site, name) {
    const { id } = await requestJob(site.daemon.api, name, { command: `${begin}; sleep 3; exit 5` })
    await untilLogged(site.daemon.api, id, 'begun')
    return id
  },
  async 'before its container is removed'(site, name) {
    site.door.hold(remove)
    const { id } = await requestJob(site.daemon.api, name, { command: `${begin}; exit 5` })
    await isHeld(site.door, remove)
    return id
  },
  async 'before a canceled one is told to end'(site, name) {
    const command = `trap "exit 7" TERM; ${begin}; while true; do sleep 0.1; done`
    const { id } = await requestJob(site.daemon.api, name, { command })
    await untilLogged(site.daemon.api, id, 'begun')
    site.door.hold(stop)
    await site.daemon.api.post(`/jobs/${id}/cancel`)
    await isHeld(site.door, stop)
    return id
  },
  async 'while a canceled one ends'(site, name, events) {
    const command = `trap "sleep 3; exit 7" TERM; ${begin}; while true; do sleep 0.1; done`
    const { id } = await requestJob(site.daemon.api, name, { command })
    await untilLogged(site.daemon.api, id, 'begun')
    await site.daemon.api.post(`/jobs/${id}/cancel`)
    await events.until('kill', id)
    return id
  },
}
