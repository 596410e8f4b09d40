// Runs a part of the drill. Restarts of Docker need an engine of their own, in a namespace, so that no other
// containers are affected; without them, the shared engine is used.
import { type Scope, temporaryDirectory } from '../support/system/directory.ts'
import { runInside } from '../support/system/namespace.ts'
import { datastores } from './datastores/part.ts'
import { deploys } from './deploys/part.ts'
import { disks } from './disks/part.ts'
import { type DrillOptions, runDrill } from './drill.ts'
import { jobs } from './jobs/part.ts'
import type { PartKind, Prepared } from './part.ts'
import { pushes } from './pushes/part.ts'
import type { Outcome } from './report.ts'

export const parts = { deploys, jobs, datastores, disks, pushes } satisfies Record<string, PartKind>
export type PartName = keyof typeof parts

interface RunOptions extends DrillOptions {
  log: (line: string) => void
}

/** The input of a run in a namespace. */
export type Passed = DrillOptions & { part: PartName; directory: string; prepared: Prepared }

export async function runPart(scope: Scope, part: PartName, options: RunOptions): Promise<Outcome> {
  const { kills, engineRestarts, seed, keep, log } = options
  const directory = temporaryDirectory(scope)
  const isPrivate = engineRestarts > 0
  const prepared = await parts[part].prepare(directory, isPrivate)
  const passed: Passed = { kills, engineRestarts, seed, keep, part, directory, prepared }
  if (!isPrivate) return runDrill(parts[part], passed, { engine: null, prepared, scope, log })
  const url = new URL('./namespace-run.ts', import.meta.url).href
  const { lines } = await runInside(url, { CRASH_RUN: JSON.stringify(passed) })
  return readMessages(lines, log)
}

/** The run writes JSON lines: log lines, and finally its outcome or failure. */
function readMessages(lines: string[], log: (line: string) => void): Outcome {
  let outcome: Outcome | null = null
  for (const line of lines) {
    const message = JSON.parse(line)
    if (message.failure) throw new Error(message.failure)
    if (message.said) log(message.said)
    outcome = message.outcome ?? outcome
  }
  if (outcome === null) throw new Error(`the run ended without an outcome: ${lines.slice(-3).join('\n')}`)
  return outcome
}
