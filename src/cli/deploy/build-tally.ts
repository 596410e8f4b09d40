// Counts the steps of a build from the step data in its log lines. BuildKit's internal work, such as
// `[internal] load build definition`, is not a step of the Dockerfile.
import { count } from '../../quantities.ts'
import type { LogLine } from '../log-line.ts'

export interface BuildTally {
  addLine(line: Pick<LogLine, 'step'>): void
  /** The newest step, `[3/5] RUN make`; null before the first. */
  current(): string | null
  /** `14 steps, 11 cached`; null before the first step. */
  summary(): string | null
}

const dockerfileStep = /^\[(\S+ )?\s*\d+\/\d+\] /

export function createBuildTally(): BuildTally {
  const steps = new Set<number>()
  const cached = new Set<number>()
  let newest: string | null = null

  return {
    addLine({ step }) {
      if (!step) return
      const { number, state, name = '' } = step
      if (state === 'started' && dockerfileStep.test(name)) {
        newest = name
        steps.add(number)
      }
      if (state === 'cached' && steps.has(number)) cached.add(number)
    },
    current: () => newest,
    summary() {
      if (steps.size === 0) return null
      return cached.size > 0
        ? `${count(steps.size, 'step')}, ${cached.size} cached`
        : count(steps.size, 'step')
    },
  }
}
