// The time from the request of a run until a follower has the first log line, compared with `docker run` of
// the same image and command.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { createInterface } from 'node:readline'
import { ensureEngine } from '../support/docker/engine.ts'
import { commandEnv } from '../support/system/command.ts'
import type { Bench } from './bench.ts'
import type { Berthd } from './berthd.ts'
import { phasesOf } from './deploy.ts'
import { type Figure, figure } from './figure.ts'
import type { JobService } from './job-service.ts'
import { median } from './percentiles.ts'

interface Round {
  jobMs: number
  dockerRunMs: number
  /** How long the run was in each state. */
  states: Record<string, number>
}

const word = 'ready'
const script = `echo ${word}`

export async function measureFirstLine(bench: Bench, berthd: Berthd, service: JobService): Promise<Figure[]> {
  const engine = await ensureEngine()
  const rounds: Round[] = []
  for (let round = 0; round <= bench.size(15, 1); round++) {
    bench.log(round === 0 ? 'a run, warming up' : `run ${round}`)
    const { id, jobMs } = await runByApi(berthd, service.id)
    const states = phasesOf(await berthd.api.get(`/jobs/${id}/history`))
    const dockerRunMs = await runByDocker(engine, berthd.prefix, service.image)
    rounds.push({ jobMs, dockerRunMs, states })
  }
  const measured = rounds.slice(1)
  const excess = measured.map(({ jobMs, dockerRunMs }) => jobMs - dockerRunMs)
  const jobs = measured.map(({ jobMs }) => jobMs)
  const alone = measured.map(({ dockerRunMs }) => dockerRunMs)
  const stateOf = (state: string) => median(measured.map(({ states }) => states[state] ?? 0))
  return [
    figure('job run until its first line, in excess of docker run', median(excess), 'ms', { atMost: 300 }),
    figure('job run until its first line', median(jobs), 'ms'),
    figure('docker run until its first line', median(alone), 'ms'),
    ...['pending', 'starting', 'following'].map((state) => figure(`job run, ${state}`, stateOf(state), 'ms')),
  ]
}

/** Node's plain client without checks, because the server is measured. */
async function runByApi({ url, headers }: Berthd, serviceId: string): Promise<{ id: string; jobMs: number }> {
  const startedAt = performance.now()
  const body = JSON.stringify({ command: script })
  const sent = { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const created = await answerTo(
    request(`${url}/api/v1/services/${serviceId}/jobs`, { method: 'POST', headers: sent }).end(body),
  )
  const chunks = (await created.toArray()) as Buffer[]
  const { id } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  const followed = await answerTo(request(`${url}/api/v1/jobs/${id}/logs?follow=true`, { headers }).end())
  let shownAt: number | null = null
  for await (const line of createInterface({ input: followed }))
    if (line.startsWith('data:') && line.includes(`"line":"${word}"`)) shownAt ??= performance.now()
  if (shownAt === null) throw new Error(`${id} wrote no line`)
  return { id, jobMs: shownAt - startedAt }
}

async function answerTo(requested: ClientRequest): Promise<IncomingMessage> {
  const [answer] = (await once(requested, 'response')) as [IncomingMessage]
  if (answer.statusCode! < 300) return answer
  throw new Error(`${requested.path}: ${answer.statusCode} ${(await answer.toArray()).join('')}`)
}

async function runByDocker(engine: string, network: string, image: string): Promise<number> {
  const startedAt = performance.now()
  // In the network of runs, because connecting a container takes time in both cases.
  const args = ['--host', engine, 'run', '--rm', '--network', network, image, 'sh', '-c', script]
  const child: ChildProcess = spawn('docker', args, { stdio: ['ignore', 'pipe', 'inherit'], env: commandEnv })
  const ended = once(child, 'close')
  let shownAt: number | null = null
  for await (const line of createInterface({ input: child.stdout! }))
    if (line === word) shownAt ??= performance.now()
  await ended
  if (shownAt === null) throw new Error('docker run wrote no line')
  return shownAt - startedAt
}
