// Job runs under test: services for them, and waiting for their output and outcome.
// The container of a run is removed at its end, so inspect it while the run is active.
import Docker from 'dockerode'
import { ensureEngine } from '../docker/engine.ts'
import type { Scope } from '../system/directory.ts'
import type { Api, Body } from './api.ts'
import type { TestDaemon } from './daemon.ts'
import { dockerfile, until } from './service.ts'
import { createService, type Suite, type TestService } from './suite.ts'

/** A command that does nothing and exits at once on SIGTERM. */
const idle = 'trap "exit 0" TERM; sleep 100000 & wait'

/** A live worker, with a disk at /data if the settings request it. */
export async function createWorker(t: Scope, api: Api, settings: object = {}): Promise<TestService> {
  const input = { type: 'background_worker', start_command: idle, ...settings }
  return createService(t, api, { Dockerfile: await dockerfile() }, input)
}

/** One worker for all tests of a file, created on first use. */
export function sharedWorker(
  t: Scope,
  suite: Pick<Suite, 'api'>,
  settings: object = {},
): () => Promise<TestService> {
  let made: Promise<TestService> | null = null
  return () => {
    made ??= createWorker(t, suite.api, settings)
    return made
  }
}

/** A live cron job; its default schedule never comes due during a test. */
export async function createCron(t: Scope, api: Api, settings: object): Promise<TestService> {
  const input = { type: 'cron_job', schedule: '0 0 1 1 *', ...settings }
  return createService(t, api, { Dockerfile: await dockerfile() }, input)
}

export function requestJob(api: Api, service: string, body: object): Promise<Body> {
  return api.post(`/services/${service}/jobs`, body)
}

/** Starts a run and waits for its end. */
export async function runJob(api: Api, service: string, command: string, more: object = {}): Promise<Body> {
  const { id } = await requestJob(api, service, { command, ...more })
  return finishedJob(api, id)
}

/** Waits until the run has succeeded, failed or been canceled. */
export function finishedJob(api: Api, id: string): Promise<Body> {
  return until(`${id} to finish`, async () => {
    const run = await api.get(`/jobs/${id}`)
    return run.finished_at !== null && run
  })
}

/** Waits until the schedule of a service has started that many runs; the newest first. */
export function scheduledRuns(api: Api, service: string, count: number): Promise<Body[]> {
  return until(`${count} scheduled runs of ${service}`, async () => {
    const runs: Body[] = await api.get(`/services/${service}/jobs`)
    const scheduled = runs.filter(({ trigger }) => trigger === 'schedule')
    return scheduled.length >= count && scheduled
  })
}

/** Waits until its container and all other resources are removed. */
export async function clearedJob(api: Api, id: string): Promise<Body> {
  await until(`${id} to be cleared`, async () =>
    ['succeeded', 'failed', 'canceled'].includes((await api.get(`/jobs/${id}/history`)).at(-1).state),
  )
  return api.get(`/jobs/${id}`)
}

interface LogLine {
  number: number
  stream: 'stdout' | 'stderr' | 'system'
  line: string
}

/** The lines of its log, followed to the end. */
export async function jobLog(api: Api, id: string, after = 0): Promise<LogLine[]> {
  const lines: LogLine[] = []
  const events = api.events(`/jobs/${id}/logs?follow=true`, { lastEventId: after })
  for await (const { event, id: number, data } of events) {
    if (event === 'end') break
    const { stream, line } = JSON.parse(data)
    lines.push({ number: Number(number), stream, line })
  }
  return lines
}

/** The output of its command, without Berth's own lines. */
export async function output(api: Api, id: string): Promise<string[]> {
  return (await jobLog(api, id)).filter(({ stream }) => stream !== 'system').map(({ line }) => line)
}

/** Waits for such a line and returns its number. */
export async function untilLogged(api: Api, id: string, isMatch: string | ((line: string) => boolean)) {
  const fits = typeof isMatch === 'string' ? (line: string) => line === isMatch : isMatch
  for await (const { event, id: number, data } of api.events(`/jobs/${id}/logs?follow=true`)) {
    if (event === 'log' && fits(JSON.parse(data).line)) return Number(number)
  }
  throw new Error(`the log of ${id} ended without the expected line`)
}

async function enginePath(): Promise<string> {
  return (await ensureEngine()).replace('unix://', '')
}

export async function openDocker(): Promise<Docker> {
  return new Docker({ socketPath: await enginePath() })
}

/** Runs a program in a container, independently of the daemon; resolves with its output at its end. */
export async function runIn(docker: Docker, containerId: string, ...command: string[]): Promise<string> {
  const exec = await docker.getContainer(containerId).exec({ Cmd: command, AttachStdout: true, Tty: true })
  let text = ''
  for await (const chunk of await exec.start({ Tty: true })) text += chunk
  return text
}

/** The container of a service's only instance. */
export async function findInstance(api: Api, service: string): Promise<string> {
  const { instances } = await api.get(`/services/${service}/status`)
  return instances[0].container_id
}

/** The job containers of a daemon, or of one run. */
export async function jobContainers(docker: Docker, { prefix }: Pick<TestDaemon, 'prefix'>, id?: string) {
  const label = [`berth.instance=${prefix}`, 'berth.kind=job', ...(id ? [`berth.id=${id}`] : [])]
  return docker.listContainers({ all: true, filters: { label } })
}

/** The container of a run, as soon as it runs. */
export function runningContainer(docker: Docker, daemon: TestDaemon, id: string) {
  return until(`the container of ${id}`, async () => {
    const [found] = await jobContainers(docker, daemon, id)
    return found?.State === 'running' && docker.getContainer(found.Id).inspect()
  })
}
