// The engine's older builder. It limits memory and CPU of each step itself; it knows no secrets and no
// sessions. The images of a failed build's steps stay as cache for the next one.
import { Failure, messageOf } from '../../errors.ts'
import { wasKilledForMemory } from '../containers/instance-exit.ts'
import { type Engine, hasStatus } from '../engine/client.ts'
import { toRegistryConfig } from '../images/registry-credentials.ts'
import { createOutputLines } from '../logs/output-lines.ts'
import {
  attempt,
  type BuildAttempt,
  type BuilderOptions,
  type BuildRequest,
  type ImageBuilder,
  messagesOf,
} from './build.ts'
import { buildFailureFacts, describeBuildFailure } from './build-failure.ts'
import type { BuildLimits, LimitWatch } from './build-guard.ts'
import { type BuildLine, type BuildStep, shortName } from './build-log.ts'

const mebibyte = 1024 * 1024
const cpuperiod = 100_000

/** `check` throws for a Dockerfile that this builder must not get. Each character of the text is a byte. */
export function createClassic(
  engine: Engine,
  { owner, guard, run }: BuilderOptions,
  check: (dockerfile: string) => void = () => {},
): ImageBuilder {
  const buildOnce = (request: BuildRequest) =>
    guard.run((watch) =>
      attempt(engine, owner, request, async (build) => {
        check(build.context.dockerfileText)
        return { imageId: await follow(build, guard.limits, watch) }
      }),
    )
  return { build: (request) => run(() => buildOnce(request)), mounts: false }
}

async function follow(build: BuildAttempt, limits: BuildLimits, watch: LimitWatch): Promise<string> {
  const log = createClassicLog(build.request.onLine)
  const headers = { 'X-Registry-Config': toRegistryConfig(build.request.registries) }
  const messages = messagesOf<ClassicMessage>(build, toQuery(limits), headers)
  try {
    for await (const message of messages) {
      log.push(message)
      if (message.error !== undefined) throw await toBuildFailure(message.error, watch, log.facts())
    }
  } catch (error) {
    // The engine rejects an unparsable Dockerfile with status 400 before any step starts.
    if (!hasStatus(error, 400)) throw error
    throw new Failure('build_failed', describeBuildFailure(messageOf(error), null))
  }
  const { imageId } = log.facts()
  if (imageId !== null) return imageId
  throw new Failure('docker_unavailable', 'Docker ended the build without a result')
}

/** The limits of each step. If possible, the guard limits all steps together. */
function toQuery({ memoryMb, cpus }: BuildLimits): Record<string, unknown> {
  const memory = memoryMb === null ? null : memoryMb * mebibyte
  return {
    rm: true,
    forcerm: true,
    ...(memory === null ? {} : { memory, memswap: memory }),
    ...(cpus === null ? {} : { cpuperiod, cpuquota: Math.round(cpus * cpuperiod) }),
  }
}

async function toBuildFailure(
  error: string,
  watch: LimitWatch,
  { step, container }: ClassicFacts,
): Promise<Failure> {
  const failedStep = step === null ? null : { name: step, error }
  const limitReached = await watch.reachedLimits()
  const hasLimit = limitReached.limits.memoryMb !== null
  const isKilled = hasLimit && container !== null && (await wasKilledForMemory(container))
  const all = { ...limitReached, memory: isKilled || limitReached.memory }
  const failure = new Failure('build_failed', describeBuildFailure(error, failedStep, all))
  return failure.with(buildFailureFacts(failedStep, all))
}

export interface ClassicMessage {
  /** A piece of text, of the engine or of a command. */
  stream?: string
  /** The status of pulling a base image; `progress` is a bar. */
  status?: string
  id?: string
  progress?: string
  /** The image of a stage; the last one is the result. */
  aux?: { ID?: string }
  error?: string
}

interface ClassicLog {
  push(message: ClassicMessage): void
  facts(): Readonly<ClassicFacts>
}

interface ClassicFacts {
  /** The step that is under way: `RUN npm ci`. */
  step: string | null
  /** The short id of the one that runs, or ran last. */
  container: string | null
  imageId: string | null
}

type StepChange = Pick<BuildStep, 'state' | 'name'>

const stepPattern = /^Step (\d+)(\/\d+) : (.*)/s
const runningPattern = /^ ---> Running in ([0-9a-f]+)\n$/
const cachePattern = /^ ---> Using cache\n$/
const removalPattern = /^(?: ---> )?(?:Removing|Removed|Error removing) intermediate container ([0-9a-f]+)/
/** The engine paints each piece that came from stderr. */
const stderrPaint = { begin: '\u001b[91m', end: '\u001b[0m' }

/** A command may print what the engine prints, so while one runs only the end of it is believed. */
export function createClassicLog(onLine: BuildLine): ClassicLog {
  const course = createCourse()
  const outputs = { stdout: createOutputLines(), stderr: createOutputLines(), system: createOutputLines() }

  // The engine sends the line end of a step in a separate message, so the change is reported with the
  // completed line.
  let change: StepChange = {}

  function say(stream: keyof typeof outputs, text: string, newChange: StepChange = {}): void {
    change = { ...change, ...newChange }
    for (const line of outputs[stream].push(text)) {
      onLine(stream, line, course.step(change))
      change = {}
    }
  }

  function finishOutput(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      for (const line of outputs[stream].remainder()) onLine(stream, line, course.step())
    }
  }

  function hear(text: string): void {
    if (course.isOutput(text)) {
      const painted = withoutPaint(text)
      say(painted === null ? 'stdout' : 'stderr', painted ?? text)
    } else {
      finishOutput()
      say('system', text, course.learn(text))
    }
  }

  function push({ stream, status, id, progress, aux, error }: ClassicMessage): void {
    if (stream !== undefined) hear(stream)
    if (status !== undefined && progress === undefined) say('system', `${id ? `${id}: ` : ''}${status}\n`)
    if (aux?.ID !== undefined) course.facts.imageId = aux.ID
    if (error === undefined) return
    finishOutput()
    say('system', `ERROR: ${error}\n`, { state: 'failed' })
  }

  return { push, facts: () => course.facts }
}

function createCourse() {
  const facts: ClassicFacts = { step: null, container: null, imageId: null }
  let stepNumber = 0
  let isRunning = false

  const isEndOfCommand = (text: string) =>
    removalPattern.exec(text)?.[1] === facts.container || stepPattern.exec(text)?.[1] === `${stepNumber + 1}`

  function learn(text: string): StepChange {
    const [, number, total, step] = stepPattern.exec(text) ?? []
    const container = runningPattern.exec(text)?.[1]
    if (step !== undefined) {
      stepNumber = Number(number)
      facts.step = shortName(step.trim())
    }
    if (container !== undefined) facts.container = container
    isRunning = container !== undefined
    if (step !== undefined) return { state: 'started', name: `[${number}${total}] ${facts.step}` }
    return cachePattern.test(text) ? { state: 'cached' } : {}
  }

  return {
    facts,
    isOutput: (text: string) => isRunning && !isEndOfCommand(text),
    learn,
    /** The current step; null before the first. */
    step: (change: StepChange = {}): BuildStep | null =>
      stepNumber === 0 ? null : { number: stepNumber, ...change },
  }
}

/** Null for what did not come from stderr. */
function withoutPaint(text: string): string | null {
  const { begin, end } = stderrPaint
  return text.startsWith(begin) && text.endsWith(end) ? text.slice(begin.length, -end.length) : null
}
