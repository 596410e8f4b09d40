// Explains why a build failed, in one line for people. Pure. BuildKit's own texts include the layers that an
// error passed through and the paths of its mounts; the failed step is more informative.

import type { FailureFacts } from '../../errors.ts'
import { killedExitCode } from '../containers/exit-explanation.ts'
import type { BuildLimits, ReachedLimits } from './build-guard.ts'

export interface FailedStep {
  name: string
  error: string
}

const nothingReached: ReachedLimits = {
  limits: { memoryMb: null, cpus: null, pids: null },
  memory: null,
  pids: false,
}
const maxStepLength = 120
/** An error may quote a whole command, and a frontend named by `# syntax=` writes what it likes. */
const maxErrorLength = 2000
/** Twice the longest path of Linux: a longer error may hold the phrases many times. */
const maxMissingPathError = 8192

export function buildFailureFacts(step: FailedStep | null, reached: ReachedLimits): FailureFacts {
  if (step === null) return {}
  const missing = missingPathOf(step.error)
  if (missing !== null) {
    const from = stageOf(step.name)
    return { step: shorten(stepName(step.name)), missing_path: missing, ...(from && { missing_from: from }) }
  }
  const reason = reasonOf(step) ?? (reached.memory === true ? 'build_memory' : null)
  return { step: shorten(stepName(step.name)), ...(reason && { reason }) }
}

export function describeBuildFailure(
  error: string,
  step: FailedStep | null,
  reached: ReachedLimits = nothingReached,
): string {
  if (step === null) return cleanError(error)
  const baseImage = baseImageOf(step.name)
  if (baseImage !== null) return describeMissingBase(baseImage, cleanError(step.error))
  const code = exitCodeOf(step.error)
  const name = shorten(stepName(step.name))
  const missing = missingPathOf(step.error)
  if (missing !== null) {
    const stage = stageOf(step.name)
    const place = stage === null ? 'the build context' : `the stage or image ${stage}`
    return `${name}: there is no ${missing} in ${place}`
  }
  return code === null ? `${name}: ${cleanError(step.error)}` : `${name} ${explainStepExit(code, reached)}`
}

function reasonOf({ name, error }: FailedStep): string | null {
  if (baseImageOf(name) === null) return null
  if (wantsCredentials.test(error)) return 'registry_credentials'
  return failedRequest.test(cleanError(error)) ? 'registry_unreachable' : null
}

function baseImageOf(step: string): string | null {
  const name = /^(?:\[internal\] load metadata for|FROM(?: --\S+)*) (\S+)/i.exec(step)?.[1]
  return name?.replace(/^docker\.io\/(library\/)?/, '') ?? null
}

// The first two are BuildKit's, which looks for folders in a mount of its own or of the engine. The last one
// is the classic builder's.
const missingPaths = [
  /"\/([^"]+)":? not found/,
  /(?:^|: )lstat \S*\/(?:buildkit-mount\d+|\w+\/merged)\/(.+): no such file or directory/,
  /: stat (.+): file does not exist/,
]

/** Relative to where the step copies from; null if the step failed for another reason. */
function missingPathOf(error: string): string | null {
  // A command that ran: its error quotes it, and it may hold any of these phrases.
  if (exitCodeOf(error) !== null || error.length > maxMissingPathError) return null
  for (const pattern of missingPaths) {
    const path = pattern.exec(oneLine(error))?.[1]
    if (path !== undefined) return path
  }
  return null
}

/** The stage or image that a step copies from; null for the build context. */
function stageOf(step: string): string | null {
  return /^(?:\[[^\]]*\] )?(?:COPY|ADD)(?: --\S+)* --from=(\S+)/i.exec(step)?.[1] ?? null
}

const wantsCredentials = /unauthorized|no basic auth|authentication required|denied|authorization failed/i

// Registries do not tell strangers what they have: a private image and a missing one look the same.
function describeMissingBase(image: string, reason: string): string {
  const advice = '; berth registries add HOST stores credentials for a registry'
  const text = reason.replace(failedRequest, '$1 does not respond ($2)')
  return `the base image ${image} cannot be obtained: ${text}${wantsCredentials.test(reason) ? advice : ''}`
}

const failedRequest = /^failed to do request: \w+ "https?:\/\/([^/"]+)[^"]*": (.+)$/

/** `[2/5] RUN --mount=type=cache,target=/root/.npm npm ci` is `RUN npm ci`. */
function stepName(name: string): string {
  return oneLine(name.replace(/^\[[^\]]*\] /, '').replace(/^(RUN)(?: --\S+)+/i, '$1'))
}

// "executor failed running [/bin/sh -c x]: exit code: 1", since BuildKit 0.10 "process "/bin/sh -c x" did not
// complete successfully: exit code: 1"; of the classic builder "The command '/bin/sh -c x' returned a
// non-zero code: 1". The command comes first, and may hold anything.
function exitCodeOf(error: string): number | null {
  const code = /(?:: exit|' returned a non-zero) code: (\d+)$/.exec(error.trim())?.[1]
  return code === undefined ? null : Number(code)
}

function explainStepExit(code: number, { limits, memory, pids }: ReachedLimits): string {
  const memoryLimit = `the memory limit of builds, ${limits.memoryMb} MiB (--build-memory-limit)`
  const isKilled = code === killedExitCode
  if (memory === true && isKilled) return `was killed at ${memoryLimit}`
  // The process that was killed or refused may be a child: the step then failed with its own code.
  if (memory === true) return `exited with code ${code}, after a process was killed at ${memoryLimit}`
  if (pids) return `exited with code ${code}, after ${processLimitReached(limits)}`
  if (code === 127) return 'exited with code 127: command not found'
  if (!isKilled) return `exited with code ${code}`
  const isAtLimit = memory === null && limits.memoryMb !== null
  const cause = isAtLimit ? `at ${memoryLimit}` : 'because the host ran out of memory'
  return `was killed (exit code 137), most likely ${cause}`
}

function processLimitReached({ pids }: BuildLimits): string {
  return `builds reached their limit of ${pids} processes (--build-pids-limit)`
}

const wrappers = [
  /^rpc error: code = \w+ desc = /,
  /^failed to solve( with frontend [\w.]+)?: /,
  /^failed to create LLB definition: /,
  /^(COPY|ADD) failed: /,
  /^failed to (compute cache key|calculate checksum of ref \S+): /,
]

function cleanError(error: string): string {
  const text = oneLine(error.slice(0, maxErrorLength))
  const wrapper = wrappers.find((pattern) => pattern.test(text))
  if (wrapper !== undefined) return cleanError(text.replace(wrapper, ''))
  return text
    .replace(/ not found: not found$/, ' not found')
    .replace(/ requires BuildKit\. Refer to .*$/, ' requires BuildKit (--builder buildkit)')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function shorten(text: string): string {
  if (text.length <= maxStepLength) return text
  // What a command sets comes first, and what it does comes last.
  const half = maxStepLength / 2
  return `${text.slice(0, half)}…${text.slice(1 - half)}`
}
