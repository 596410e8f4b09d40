// The messages of a classic build as lines, and what they tell of the build: its step, its container, its
// images. A command may print what the engine prints, so while one runs only the end of it is believed.

import { createOutputLines } from '../logs/output-lines.ts'
import type { BuildLine, BuildStep } from './build-log.ts'

/** One line of the engine's answer. */
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

export interface ClassicLog {
  push(message: ClassicMessage): void
  facts(): Readonly<ClassicFacts>
}

export interface ClassicFacts {
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

/** Tracks the progress of the build from the engine's messages. */
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
