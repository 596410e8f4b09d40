// What every part of the bench gets: its size, the built programs, a place to say what is to be cleaned up.
// Parts run one after the other, so that none of them measures another.
import { buildPrograms, type Programs } from './built.ts'
import { Cleanups } from './cleanups.ts'
import { watchCrowding } from './crowding.ts'
import type { Figure } from './figure.ts'
import { type PartName, parts } from './parts.ts'

export interface BenchOptions {
  isQuick: boolean
  /** Where the processes that are measured leave their CPU profiles. */
  profileDirectory?: string | undefined
  /** How many job runs; what the size says when left out. */
  runs?: number | undefined
  say: (words: string) => void
}

export interface Bench {
  programs: Programs
  /** The full size of something, or the quick one. */
  size(full: number, quick: number): number
  /** How many job runs somebody asked for. */
  runs: number | undefined
  say(words: string): void
  /** What is left to do when the part is over, the last one first. */
  after(cleanup: () => unknown): void
}

export interface PartResult {
  part: PartName
  durationSeconds: number
  /** The share of that time in which some task of the machine waited for a CPU. */
  crowding: number | null
  figures: Figure[]
}

/** Measures the parts. What they need is built before and removed after them, also at an interrupt. */
export async function runParts(names: readonly PartName[], options: BenchOptions): Promise<PartResult[]> {
  const cleanups = new Cleanups()
  const leave = () => void cleanups.downTo(0).finally(() => process.exit(130))
  process.once('SIGINT', leave).once('SIGTERM', leave)
  try {
    const programs = await buildPrograms(options.profileDirectory)
    cleanups.add(programs.remove)
    const results: PartResult[] = []
    for (const name of names) results.push(await runPart(name, programs, cleanups, options))
    return results
  } finally {
    await cleanups.downTo(0)
    process.off('SIGINT', leave).off('SIGTERM', leave)
  }
}

async function runPart(
  part: PartName,
  programs: Programs,
  cleanups: Cleanups,
  { isQuick, runs, say }: BenchOptions,
): Promise<PartResult> {
  const earlier = cleanups.count
  const bench: Bench = {
    programs,
    size: (full, quick) => (isQuick ? quick : full),
    runs,
    say: (words) => say(`${part}: ${words}`),
    after: (cleanup) => cleanups.add(cleanup),
  }
  const startedAt = performance.now()
  const crowding = watchCrowding()
  try {
    const figures = await parts[part](bench)
    return { part, figures, durationSeconds: (performance.now() - startedAt) / 1000, crowding: crowding() }
  } finally {
    await cleanups.downTo(earlier)
  }
}
