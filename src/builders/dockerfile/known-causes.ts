// Why a command of a build failed, where its output says so in well-known words and its exit code does not.

import { withoutControlSequences } from '../../control-sequences.ts'
import type { BuildLine } from '../../docker/build/build-log.ts'
import { namesError } from '../../error-line.ts'
import { Failure, type FailureFacts } from '../../errors.ts'

const notSet =
  /\b([A-Z][A-Z0-9]+_[A-Z0-9_]+)\b["'`]? (?:(?:is|was) (?:not set|not defined|missing|required)|must be set)/
const notFound = /(?:nvironment variables? (?:not found|missing): |KeyError: ["'])([A-Z][A-Z0-9_]{2,60})\b/
const causes: [reason: string, words: RegExp][] = [
  ['variable', notSet],
  ['variable', notFound],
  ['lock_file', /can only install packages when your|_OUTDATED_LOCKFILE|YN0028|lockfile is frozen/],
  ['lock_file', /lock ?file .{0,99}needs to be updated|changed significantly since poetry\.lock/],
  ['ssh_dependency', /ssh: not found|cannot run ssh|Host key verification failed|denied \(publickey/],
  ['package_refused', /npm error code E40[134]|ERR_PNPM_FETCH_40[134]|YN0035|YN0041/],
  ['peer_conflict', /npm error code ERESOLVE|ERR_PNPM_PEER_DEP_ISSUES/],
  ['version_missing', /npm error code ETARGET|ERR_PNPM_NO_MATCHING_VERSION|No matching distribution found/],
  [
    'node_version',
    /Node\.js version .{1,40} is required|npm error code EBADENGINE|ERR_PNPM_UNSUPPORTED_ENGINE/,
  ],
  ['node_version', /The engine "node" is incompatible/],
  ['ignored_builds', /ERR_PNPM_IGNORED_BUILDS/],
  ['node_openssl', /ERR_OSSL_EVP_UNSUPPORTED/],
  ['node_heap', /JavaScript heap out of memory/],
]
/** Lines in which a tool says what is wrong, the most telling ones first. */
const tellingLines: RegExp[] = [
  /^You are using Node\.js /,
  /\bERR_PNPM_(?!RECURSIVE|LIFECYCLE)[A-Z]/,
  /^npm (?:error|ERR!) (?!code\b|errno|syscall|path|command|signal|Lifecycle|workspace|location|A comp)\S/,
  /^ERROR: No matching distribution found|^error: (?!subprocess|could not compile)\S/,
  /\berror TS\d+:|^error\[E\d+\]|^\S+\.go:\d+:\d+: |^\[ERROR\] \S/,
  /^➤ YN00\d\d: .*(?:Error|can't|cannot|incompatible|would have been)/,
]
const maxLength = 500
const maxQuoted = 200

interface Output {
  facts: FailureFacts | null
  line: string
  /** The lowest is the most telling. */
  rank: number
}

/** Gives a failure what the output of its step names: the reason, and the line in which its tool says it. */
export function watchCauses(onLine: BuildLine): { onLine: BuildLine; explain(error: unknown): unknown } {
  const outputs = new Map<number, Output>()
  let failed: Output | undefined
  return {
    onLine(stream, line, step) {
      onLine(stream, line, step)
      if (step?.state === 'failed') failed = outputs.get(step.number)
      else if (step && stream !== 'system') note(step.number, line.slice(0, maxLength))
    },
    explain(error) {
      if (!(error instanceof Failure) || error.facts?.reason !== undefined || !failed) return error
      const message = failed.line === '' ? error.message : `${error.message}: ${failed.line}`
      return new Failure(error.code, message).with({ ...error.facts, ...failed.facts })
    },
  }

  function note(step: number, line: string): void {
    const output = outputs.get(step) ?? { facts: null, line: '', rank: Number.POSITIVE_INFINITY }
    outputs.set(step, output)
    for (const facts of findCauses(line)) output.facts = facts
    const text = withoutControlSequences(line).replace(/^(#\d+ )?(\d+\.\d+ )?\s*/, '')
    const found = tellingLines.findIndex((words) => words.test(text))
    const rank = found >= 0 ? found : namesError(text) ? tellingLines.length : Number.POSITIVE_INFINITY
    if (rank < output.rank) Object.assign(output, { line: text.slice(0, maxQuoted).trim(), rank })
  }
}

function* findCauses(line: string): Generator<FailureFacts> {
  for (const [reason, words] of causes) {
    const [isFound, variable] = words.exec(line) ?? []
    if (isFound !== undefined) yield { reason, ...(variable && { variable }) }
  }
}
