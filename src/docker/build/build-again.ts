// Builds that BuildKit fails by an error in its own state: neither the Dockerfile nor the source is to blame,
// and another attempt builds. A canceled build with the same steps is what usually causes it.
import { Failure } from '../../errors.ts'
import type { BuildLine } from './build-log.ts'

const attempts = 3

/** Failed by an error of the builder's own. */
export class BuilderFault extends Failure {}

/**
 * The error, if it is of BuildKit's own state: `duplicate output` when a COPY begins again that another build
 * had begun and was canceled in, the others when its scheduler lost count. Null for any other.
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
      onLine('system', 'BuildKit failed by an error of its own: building again', null)
    }
  }
}
