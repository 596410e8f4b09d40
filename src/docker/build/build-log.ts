// The progress of a build as the lines that `docker build --progress=plain` would print, as they happen.
import { TextDecoder } from 'node:util'
import protobuf from 'protobufjs'
import { size } from '../../quantities.ts'
import { createOutputLines, type OutputLines } from '../logs/output-lines.ts'

/** A line of a build, and the step that it belongs to; null for what concerns all of the build. */
export type BuildLine = (stream: 'stdout' | 'stderr' | 'system', line: string, step: BuildStep | null) => void

export interface BuildStep {
  number: number
  /** Missing while nothing but output comes. */
  state?: 'started' | 'cached' | 'done' | 'failed' | 'canceled'
  /** With `started`: `[build 3/5] RUN make`. */
  name?: string
}

interface BuildLog {
  push(status: BuildStatus): void
  failedStep(): Vertex | null
}

interface Step {
  number: number
  startedAt: Timestamp
  isFinished: boolean
  stdout: Output
  stderr: Output
}

interface Output {
  decoder: TextDecoder
  lines: OutputLines
  /** The time of the newest piece since the step started. */
  seconds: number
}

const stderrStream = 2
/** A command can have half a megabyte, and a frontend writes what it likes. */
const maxNameLength = 500
const maxErrorLength = 8192

/** The name of a step, as it is logged. */
export function shortName(name: string): string {
  return name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength)}…`
}

export function createBuildLog(onLine: BuildLine, onStep = () => {}): BuildLog {
  const steps = new Map<string, Step>()
  const reportedParts = new Set<string>()
  let failed: Vertex | null = null

  function begin({ digest, name, started }: Vertex): void {
    if (started === null || steps.has(digest)) return
    const step = createStep(steps.size + 1, started)
    steps.set(digest, step)
    const shown = shortName(name)
    onLine('system', `#${step.number} ${shown}`, { number: step.number, state: 'started', name: shown })
    onStep()
  }

  function report(part: VertexStatus): void {
    const step = steps.get(part.vertex)
    const key = `${part.vertex} ${part.id}`
    if (step === undefined || part.completed === null || reportedParts.has(key)) return
    reportedParts.add(key)
    onLine('system', `#${step.number} ${shortName(part.id)}${sizeOf(part)} done`, { number: step.number })
  }

  function print(log: VertexLog): void {
    const step = steps.get(log.vertex)
    if (step === undefined) return
    for (const line of linesOf(step, log)) onLine(streamOf(log), line, { number: step.number })
  }

  function finish(vertex: Vertex): void {
    const step = steps.get(vertex.digest)
    if (step === undefined || step.isFinished || vertex.completed === null) return
    step.isFinished = true
    for (const stream of ['stdout', 'stderr'] as const) {
      for (const line of restOf(step, step[stream])) onLine(stream, line, { number: step.number })
    }
    const { state, words } = outcomeOf(step, vertex)
    onLine('system', `#${step.number} ${words}`, { number: step.number, state })
    if (isFailed(vertex)) failed ??= vertex
  }

  function push(status: BuildStatus): void {
    for (const { vertexes, statuses, logs } of byStep(status)) {
      vertexes.forEach(begin)
      statuses.forEach(report)
      logs.forEach(print)
      vertexes.forEach(finish)
    }
  }

  return { push, failedStep: () => failed }
}

/** Splits a message by step, so that each step is logged completely before the next one. */
function byStep({ vertexes, statuses, logs }: BuildStatus): BuildStatus[] {
  const steps = new Map<string, BuildStatus>()
  function of(digest: string): BuildStatus {
    const step = steps.get(digest) ?? { vertexes: [], statuses: [], logs: [] }
    steps.set(digest, step)
    return step
  }
  for (const vertex of vertexes) of(vertex.digest).vertexes.push(vertex)
  for (const status of statuses) of(status.vertex).statuses.push(status)
  for (const log of logs) of(log.vertex).logs.push(log)
  return [...steps.values()]
}

function createStep(number: number, startedAt: Timestamp): Step {
  const output = () => ({ decoder: new TextDecoder(), lines: createOutputLines(), seconds: 0 })
  return { number, startedAt, isFinished: false, stdout: output(), stderr: output() }
}

/** The lines that a piece of output completes. */
function linesOf(step: Step, log: VertexLog): string[] {
  const output = step[streamOf(log)]
  output.seconds = secondsSince(step, log.timestamp)
  const lines = output.lines.push(output.decoder.decode(log.msg, { stream: true }))
  return lines.map((line) => toLine(step, output, line))
}

/** The last, incomplete line of the output. */
function restOf(step: Step, output: Output): string[] {
  return output.lines.remainder().map((line) => toLine(step, output, line))
}

function toLine(step: Step, output: Output, line: string): string {
  return `#${step.number} ${output.seconds.toFixed(3)} ${line}`
}

function secondsSince({ startedAt }: Step, instant: Timestamp | null): number {
  return toSeconds(instant ?? startedAt) - toSeconds(startedAt)
}

function streamOf({ stream }: VertexLog): 'stdout' | 'stderr' {
  return stream === stderrStream ? 'stderr' : 'stdout'
}

function outcomeOf(step: Step, vertex: Vertex) {
  if (isFailed(vertex))
    return { state: 'failed', words: `ERROR: ${vertex.error.slice(0, maxErrorLength)}` } as const
  if (vertex.error !== '') return { state: 'canceled', words: 'CANCELED' } as const
  if (vertex.cached) return { state: 'cached', words: 'CACHED' } as const
  return { state: 'done', words: `DONE ${secondsSince(step, vertex.completed).toFixed(1)}s` } as const
}

// When one step fails or the build is aborted, the other steps end with this error and are not to blame.
function isFailed({ error }: Vertex): boolean {
  return error !== '' && !error.includes('context canceled')
}

function sizeOf({ current }: VertexStatus): string {
  return current > 0 ? ` ${size(current)}` : ''
}

// BuildKit's messages: protobuf in base64, one per JSON line. Only the fields that a log needs are named.

export interface BuildStatus {
  vertexes: Vertex[]
  statuses: VertexStatus[]
  logs: VertexLog[]
}

/** A step of the build. It is sent again whenever one of its fields changes. */
export interface Vertex {
  digest: string
  name: string
  cached: boolean
  started: Timestamp | null
  completed: Timestamp | null
  error: string
}

/** A part of a step: a layer that is fetched, the context that is read. */
interface VertexStatus {
  vertex: string
  id: string
  current: number
  completed: Timestamp | null
}

interface VertexLog {
  vertex: string
  timestamp: Timestamp | null
  /** 1 is stdout, 2 is stderr. */
  stream: number
  msg: Uint8Array
}

interface Timestamp {
  seconds: number
  nanos: number
}

const schema = `
  syntax = "proto3";
  message StatusResponse {
    repeated Vertex vertexes = 1;
    repeated VertexStatus statuses = 2;
    repeated VertexLog logs = 3;
  }
  message Vertex {
    string digest = 1;
    string name = 3;
    bool cached = 4;
    Timestamp started = 5;
    Timestamp completed = 6;
    string error = 7;
  }
  message VertexStatus {
    string id = 1;
    string vertex = 2;
    int64 current = 4;
    Timestamp completed = 8;
  }
  message VertexLog {
    string vertex = 1;
    Timestamp timestamp = 2;
    int64 stream = 3;
    bytes msg = 4;
  }
  message Timestamp {
    int64 seconds = 1;
    int32 nanos = 2;
  }
`

const StatusResponse = protobuf.parse(schema).root.lookupType('StatusResponse')

/** Throws when the bytes are no such message. */
export function decodeBuildStatus(base64: string): BuildStatus {
  const message = StatusResponse.decode(Buffer.from(base64, 'base64'))
  return StatusResponse.toObject(message, { longs: Number, defaults: true }) as BuildStatus
}

function toSeconds({ seconds, nanos }: Timestamp): number {
  return seconds + nanos / 1e9
}
