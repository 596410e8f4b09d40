// Repeats builds that BuildKit fails because of an error in its own state. Neither the Dockerfile nor
// the source is the cause, and another attempt succeeds. The usual trigger is a canceled build with the
// same steps.
import { Failure } from '../../errors.ts'
import type { BuildLine } from './build-log.ts'

const attempts = 3

export class BuilderFault extends Failure {}

/**
 * Returns the error if it concerns BuildKit's own state, otherwise null. `duplicate output` occurs when a
 * COPY restarts that another build had started before it was canceled. The other errors occur when BuildKit's
 * scheduler loses count.
 */
export function faultOf(error: string): string | null {
  const faults = /(?:^|: )(duplicate output \d+|inconsistent graph state.*|buildkit scheduler error: .+)$/
  return faults.exec(error.trim())?.[1] ?? null
}

/** Builds again after such a failure, a bounded number of times. */
export async function againAfterFaults<T>(onLine: BuildLine, build: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await build()
    } catch (error) {
      if (!(error instanceof BuilderFault) || attempt === attempts) throw error
      onLine('system', 'BuildKit failed with an internal error: retrying the build', null)
    }
  }
}
