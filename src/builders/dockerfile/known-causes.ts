// Why a command of a build failed, where its output says so in well-known words and its exit code does not.
import type { BuildLine } from '../../docker/build/build-log.ts'
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
  ['node_openssl', /ERR_OSSL_EVP_UNSUPPORTED/],
  ['node_heap', /JavaScript heap out of memory/],
]
const maxLength = 500

/** Gives a failure the reason that the output of its step names. */
export function watchCauses(onLine: BuildLine): { onLine: BuildLine; explain(error: unknown): unknown } {
  const found = new Map<number, FailureFacts>()
  let cause: FailureFacts | undefined
  return {
    onLine(stream, line, step) {
      onLine(stream, line, step)
      if (step?.state === 'failed') cause = found.get(step.number)
      else if (step) for (const facts of findCauses(line.slice(0, maxLength))) found.set(step.number, facts)
    },
    explain(error) {
      if (!(error instanceof Failure) || error.facts?.reason !== undefined || !cause) return error
      return error.with({ ...error.facts, ...cause })
    },
  }
}

function* findCauses(line: string): Generator<FailureFacts> {
  for (const [reason, words] of causes) {
    const [isFound, variable] = words.exec(line) ?? []
    if (isFound !== undefined) yield { reason, ...(variable && { variable }) }
  }
}
