// The engine's older builder. It limits memory and CPU of each step itself; it knows no secrets and no
// sessions. It leaves containers and images of builds that did not end well, which are removed here.
import type { ImageInspectInfo } from 'dockerode'
import { sleep } from '../../async/sleep.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { wasKilledForMemory } from '../containers/instance-exit.ts'
import { acceptStatus, type Engine, hasStatus, orNull } from '../engine/client.ts'
import { buildHost, type Owner } from '../engine/names.ts'
import { toRegistryConfig } from '../images/registry-credentials.ts'
import { createOutputLines } from '../logs/output-lines.ts'
import {
  attempt,
  type BuildAttempt,
  type BuildDriver,
  type Builder,
  type BuildRequest,
  messagesOf,
  withCleanup,
} from './build.ts'
import type { BuildCache } from './build-cache.ts'
import { buildFailureFacts, describeBuildFailure } from './build-failure.ts'
import type { BuildGuard, BuildLimits, LimitWatch } from './build-guard.ts'
import type { BuildLine, BuildStep } from './build-log.ts'
import { killOrphans } from './build-steps.ts'

const mebibyte = 1024 * 1024
const cpuperiod = 100_000

interface ClassicOptions {
  owner: Owner
  guard: BuildGuard
  cache: BuildCache
}

export function createClassic(engine: Engine, options: ClassicOptions): Builder {
  return withCleanup(classicDriver(engine, options), options.cache)
}

interface ClassicDriverOptions extends Pick<ClassicOptions, 'owner' | 'guard'> {
  /** Throws for a Dockerfile that this builder must not get. Each character of the text is a byte. */
  check?: (dockerfile: string) => void
}

export function classicDriver(engine: Engine, options: ClassicDriverOptions): BuildDriver {
  const leftovers = createBuildLeftovers(engine, options.owner)
  return {
    build: (request) =>
      options.guard.run((watch) => build({ engine, ...options, watch }, leftovers, request)),
    async tidy() {
      await killOrphans(options.owner)
      await leftovers.remove()
    },
  }
}

interface Guarded extends ClassicDriverOptions {
  engine: Engine
  watch: LimitWatch
}

async function build(
  options: Guarded,
  leftovers: BuildLeftovers,
  request: BuildRequest,
): Promise<{ imageId: string }> {
  const log = createClassicLog(request.onLine)
  try {
    const { engine, owner, check } = options
    const run = async (build: BuildAttempt) => {
      check?.(build.context.dockerfileText)
      return follow(build, options, log)
    }
    return { imageId: await attempt(engine, owner, request, run) }
  } catch (error) {
    leftovers.addBuild(log.facts())
    // After `build_failed`, the engine has already removed the containers of the build.
    if (codeOf(error) !== 'build_failed') leftovers.suspectContainers()
    throw error
  }
}

async function follow(build: BuildAttempt, options: Guarded, log: ClassicLog): Promise<string> {
  const headers = { 'X-Registry-Config': toRegistryConfig(build.request.registries) }
  const messages = messagesOf<ClassicMessage>(build, toQuery(options.guard.limits), headers)
  try {
    for await (const message of messages) {
      log.push(message)
      if (message.error !== undefined) throw await toBuildFailure(message.error, options, log.facts())
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
  { watch }: Guarded,
  { step, containers }: ClassicFacts,
): Promise<Failure> {
  const failedStep = step === null ? null : { name: step, error }
  const limitReached = watch.reachedLimits()
  const container = containers.at(-1)
  const hasLimit = limitReached.limits.memoryMb !== null
  const isKilled = hasLimit && container !== undefined && (await wasKilledForMemory(container))
  const all = { ...limitReached, memory: isKilled || limitReached.memory }
  const failure = new Failure('build_failed', describeBuildFailure(error, failedStep, all))
  return failure.with(buildFailureFacts(failedStep, all))
}

// What classic builds leave in the engine: containers without a label, images without a name. An image of one
// build may be the cache of another, so nothing may be removed while any runs.

interface BuildLeftovers {
  /** Adds a build that failed or was canceled; its intermediate images are not needed. */
  addBuild(build: BuildTraces): void
  /** The engine may have left containers; so it may before the first build, when it or we were killed. */
  suspectContainers(): void
  /** Throws what an engine call throws; then all is as it was. */
  remove(): Promise<void>
}

type BuildTraces = Pick<ClassicFacts, 'containers' | 'baseImages' | 'madeImages'>

const pauseMs = 100
/** An engine that ends a build needs a moment for it. */
const attempts = 50

function createBuildLeftovers(engine: Engine, owner: Owner): BuildLeftovers {
  /** The number of consecutive searches that found no image of the build, 0 or 1. */
  const builds = new Map<BuildTraces, number>()
  let mayHoldContainers = true
  let waitAttempts = 0
  return {
    addBuild: (build) => void builds.set(build, 0),
    suspectContainers() {
      mayHoldContainers = true
      waitAttempts = attempts
    },
    async remove() {
      if (mayHoldContainers) await removeContainers(engine, buildHost(owner), waitAttempts)
      mayHoldContainers = false
      waitAttempts = 0
      for (const [build, vainLooks] of [...builds].toReversed()) {
        const found = await removeImages(engine, build)
        // The next search finds the images that the engine refused to remove or is still creating.
        if (found === 0 && vainLooks > 0) builds.delete(build)
        else builds.set(build, found === 0 ? 1 : 0)
      }
    },
  }
}

/** The engine removes them itself, later if they are removed here first. So the first attempts only wait. */
async function removeContainers(engine: Engine, host: string, waitAttempts: number): Promise<void> {
  const { docker, call } = engine
  for (let attempt = 0; attempt < waitAttempts + attempts; attempt++) {
    const ids = await findContainers(engine, host)
    if (ids.length === 0) return
    for (const id of attempt < waitAttempts ? [] : ids) {
      const container = docker.getContainer(id)
      const remove = call('remove a build container', () => container.remove({ force: true, v: true }))
      await acceptStatus(409, acceptStatus(404, remove))
    }
    await sleep(pauseMs)
  }
}

async function findContainers({ docker, call }: Engine, host: string): Promise<string[]> {
  const all = await call('list containers', (abortSignal) =>
    docker.listContainers({ all: true, abortSignal }),
  )
  const found: string[] = []
  for (const { Id } of all) {
    const info = await orNull(call('inspect a container', () => docker.getContainer(Id).inspect()))
    if (info?.HostConfig.ExtraHosts?.some((entry: string) => entry.startsWith(`${host}:`))) found.push(Id)
  }
  return found
}

/** Returns the number found. The engine keeps an image that another build's images are based on. */
async function removeImages(engine: Engine, build: BuildTraces): Promise<number> {
  build.madeImages.push(...(await findUntold(engine, build)))
  let found = 0
  for (const id of build.madeImages.toReversed()) {
    const info = await inspectImage(engine, id)
    if (info === null || !isMadeBy(build, info)) continue
    found++
    const remove = engine.call('remove an image', () =>
      engine.docker.getImage(info.Id).remove({ noprune: true }),
    )
    await acceptStatus(409, acceptStatus(404, remove))
  }
  return found
}

/** Finds the images that the engine created after the build had stopped reading its messages. */
async function findUntold(engine: Engine, build: BuildTraces): Promise<string[]> {
  const { baseImages, madeImages } = build
  const all = await engine.call('list images', (abortSignal) =>
    engine.docker.listImages({ all: true, abortSignal }),
  )
  const untold: string[] = []
  for (const image of all.toReversed()) {
    const [id, parent] = [shortId(image.Id), shortId(image.ParentId)]
    const parents = [...madeImages, ...untold]
    if (madeImages.includes(id) || ![...baseImages, ...parents].includes(parent)) continue
    const info = await inspectImage(engine, id)
    // Of a base image there are other people's descendants, too.
    if (info && isMadeBy({ ...build, baseImages: [], madeImages: parents }, info)) untold.push(id)
  }
  return untold
}

/** Checked in the engine's records: a command may print lines like the engine's. Named images are kept. */
function isMadeBy({ containers, baseImages, madeImages }: BuildTraces, info: ImageInspectInfo): boolean {
  if (info.RepoTags?.length || info.RepoDigests?.length) return false
  if (info.Container) return containers.includes(shortId(info.Container))
  return [...baseImages, ...madeImages].includes(shortId(info.Parent))
}

function inspectImage({ docker, call }: Engine, id: string): Promise<ImageInspectInfo | null> {
  return orNull(call('inspect an image', () => docker.getImage(id).inspect()))
}

/** The form that a build's messages use. */
function shortId(id: string): string {
  return id.replace(/^sha256:/, '').slice(0, 12)
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
  /** Short ids, in order; the last one runs, or ran last. */
  containers: string[]
  /** Short ids of existing images: of `FROM` and of the cache. Empty for `FROM scratch`. */
  baseImages: string[]
  /** Short ids, in order, of images that the build created. A command's output may have forged an id. */
  madeImages: string[]
  imageId: string | null
}

type StepChange = Pick<BuildStep, 'state' | 'name'>

const stepPattern = /^Step (\d+)(\/\d+) : (.*)/s
const runningPattern = /^ ---> Running in ([0-9a-f]+)\n$/
const imagePattern = /^ ---> ((?:[0-9a-f]{12})?)\n$/
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
  const facts: ClassicFacts = { step: null, containers: [], baseImages: [], madeImages: [], imageId: null }
  let stepNumber = 0
  let isRunning = false
  let isReused = false

  const isEndOfCommand = (text: string) =>
    removalPattern.exec(text)?.[1] === facts.containers.at(-1) ||
    stepPattern.exec(text)?.[1] === `${stepNumber + 1}`

  function learn(text: string): StepChange {
    const [, number, total, step] = stepPattern.exec(text) ?? []
    const container = runningPattern.exec(text)?.[1]
    const image = imagePattern.exec(text)?.[1]
    if (step !== undefined) {
      stepNumber = Number(number)
      facts.step = step.trim()
      isReused = /^FROM\s/i.test(step)
    }
    if (container !== undefined) facts.containers.push(container)
    const isCached = cachePattern.test(text)
    if (isCached) isReused = true
    if (image !== undefined) learnImage(image)
    isRunning = container !== undefined
    if (step !== undefined) return { state: 'started', name: `[${number}${total}] ${facts.step}` }
    return isCached ? { state: 'cached' } : {}
  }

  function learnImage(image: string): void {
    // Images of other origins have no parent either: a command must not make them look like ours.
    const isBelievable = image !== '' || (isReused && facts.containers.length === 0)
    if (isBelievable) facts[isReused ? 'baseImages' : 'madeImages'].push(image)
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
