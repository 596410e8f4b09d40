// Why a build failed, in one line for people. Pure. BuildKit's own texts carry the layers they came through,
// and the paths of its mounts; the step that failed says more.

import { killedExitCode } from './exit.ts'

export interface FailedStep {
  /** As the builder names it. */
  name: string
  error: string
}

/** What a step was allowed to use. */
export interface MemoryLimit {
  mib: number
  /** Whether a process of the step is known to have been killed at the limit. */
  isExceeded: boolean
}

const maxStepLength = 120

/** `limit` is null where builds have none. */
export function describeBuildFailure(
  error: string,
  step: FailedStep | null,
  limit: MemoryLimit | null = null,
): string {
  if (step === null) return cleanError(error)
  const baseImage = baseImageOf(step.name)
  if (baseImage !== null) return describeMissingBase(baseImage, cleanError(step.error))
  const code = exitCodeOf(step.error)
  const name = shorten(stepName(step.name))
  return code === null ? `${name}: ${cleanError(step.error)}` : `${name} ${explainStepExit(code, limit)}`
}

function baseImageOf(step: string): string | null {
  const name = /^(?:\[internal\] load metadata for|FROM(?: --\S+)*) (\S+)/i.exec(step)?.[1]
  return name?.replace(/^docker\.io\/(library\/)?/, '') ?? null
}

// Registries do not tell strangers what they have: a private image and a missing one look the same.
function describeMissingBase(image: string, reason: string): string {
  const wantsCredentials = /unauthorized|no basic auth|authentication required|denied|authorization failed/i
  const advice = '; berth registries add HOST stores credentials for a registry'
  const words = reason.replace(failedRequest, '$1 does not answer ($2)')
  return `the base image ${image} cannot be had: ${words}${wantsCredentials.test(reason) ? advice : ''}`
}

const failedRequest = /^failed to do request: \w+ "https?:\/\/([^/"]+)[^"]*": (.+)$/

/** `[2/5] RUN npm ci` is `RUN npm ci`. */
function stepName(name: string): string {
  return oneLine(name.replace(/^\[[^\]]*\] /, ''))
}

// "executor failed running [/bin/sh -c x]: exit code: 1", since BuildKit 0.10 "process "/bin/sh -c x" did not
// complete successfully: exit code: 1"; of the classic builder "The command '/bin/sh -c x' returned a
// non-zero code: 1". The command comes first, and may hold anything.
function exitCodeOf(error: string): number | null {
  const code = /(?:: exit|' returned a non-zero) code: (\d+)$/.exec(error.trim())?.[1]
  return code === undefined ? null : Number(code)
}

function explainStepExit(code: number, limit: MemoryLimit | null): string {
  if (limit?.isExceeded) return explainExceeded(code, limit)
  if (code === 127) return 'exited with code 127: command not found'
  if (code !== killedExitCode) return `exited with code ${code}`
  const cause = limit ? `at ${nameOf(limit)}` : 'because the host ran out of memory'
  return `was killed (exit code 137), most likely ${cause}`
}

/** What was killed need not be what the step ran: that then failed with a code of its own. */
function explainExceeded(code: number, limit: MemoryLimit): string {
  const exceeded = `exceeded ${nameOf(limit)}`
  return code === killedExitCode
    ? exceeded
    : `exited with code ${code}, after one of its processes ${exceeded}`
}

function nameOf({ mib }: MemoryLimit): string {
  return `its limit of ${mib} MiB (--build-memory-limit)`
}

const wrappers = [
  /^rpc error: code = \w+ desc = /,
  /^failed to solve( with frontend [\w.]+)?: /,
  /^failed to create LLB definition: /,
  /^(COPY|ADD) failed: /,
  /^failed to (compute cache key|calculate checksum of ref \S+): /,
]

function cleanError(error: string): string {
  const text = oneLine(error)
  const wrapper = wrappers.find((one) => one.test(text))
  if (wrapper !== undefined) return cleanError(text.replace(wrapper, ''))
  return text
    .replace(/ not found: not found$/, ' not found')
    .replace(/ requires BuildKit\. Refer to .*$/, ' requires BuildKit (--builder buildkit)')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function shorten(text: string): string {
  return text.length <= maxStepLength ? text : `${text.slice(0, maxStepLength - 1)}…`
}
