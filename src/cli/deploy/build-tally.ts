// Counts the steps of a build by its log: BuildKit numbers what it does, `#6 [build 3/5] RUN make`, and ends
// each with DONE or CACHED; the classic builder says `Step 3/5 : RUN make`.
// Mind: `#1 [internal] load build definition` is work too, but no step of the Dockerfile.
import { count } from '../terminal/quantities.ts'

export interface BuildTally {
  hear(line: string): void
  /** The newest step, `[3/5] RUN make`; null before the first. */
  current(): string | null
  /** `14 steps, 11 cached`; null before the first step. */
  summary(): string | null
}

const buildKitStep = /^#(\d+) (\[(?:\S+ )?\s*\d+\/\d+\] .*)/
const classicStep = /^Step (\d+\/\d+) : (.*)/

export function createBuildTally(): BuildTally {
  const steps = new Set<string>()
  const cached = new Set<string>()
  let newest: { id: string; name: string } | null = null

  function begin(id: string, name: string): void {
    newest = { id, name }
    steps.add(id)
  }

  return {
    hear(line) {
      const [, id, name] = buildKitStep.exec(line) ?? classicStep.exec(line) ?? []
      if (id && name) begin(id, name)
      const known =
        /^#(\d+) CACHED$/.exec(line)?.[1] ?? (line === ' ---> Using cache' ? newest?.id : undefined)
      if (known && steps.has(known)) cached.add(known)
    },
    current: () => newest?.name ?? null,
    summary() {
      if (steps.size === 0) return null
      return cached.size > 0
        ? `${count(steps.size, 'step')}, ${cached.size} cached`
        : count(steps.size, 'step')
    },
  }
}
