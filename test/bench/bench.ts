// The context of each benchmark part: sizes, the built programs, and cleanups.
// Parts run one after another, so that they do not affect each other.
import { buildPrograms, type Programs } from './built.ts'
import { Cleanups } from './cleanups.ts'
import type { Figure } from './figure.ts'
import { type PartName, parts } from './parts.ts'

interface Options {
  isQuick: boolean
  /** The directory for CPU profiles of the measured processes. */
  profileDirectory?: string | undefined
  log: (words: string) => void
}

export interface Bench {
  programs: Programs
  /** The full size, or the quick one. */
  size(full: number, quick: number): number
  log(words: string): void
  /** Cleanups at the end of the part, run in reverse order. */
  after(cleanup: () => unknown): void
}

export interface PartResult {
  part: PartName
  figures: Figure[]
}

/** Measures the parts. Builds the programs first and removes them afterwards, also on an interrupt. */
export async function runParts(names: readonly PartName[], options: Options): Promise<PartResult[]> {
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
  { isQuick, log }: Options,
): Promise<PartResult> {
  const earlier = cleanups.count
  const bench: Bench = {
    programs,
    size: (full, quick) => (isQuick ? quick : full),
    log: (text) => log(`${part}: ${text}`),
    after: (cleanup) => cleanups.add(cleanup),
  }
  try {
    return { part, figures: await parts[part](bench) }
  } finally {
    await cleanups.downTo(earlier)
  }
}
