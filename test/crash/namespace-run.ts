// A part of the drill inside a namespace with a private engine. Writes JSON lines to stdout: log lines as
// they come, and the outcome last.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadImage, startNamespaceEngine } from '../support/docker/namespace-engine.ts'
import { openNetwork } from '../support/system/namespace.ts'
import { runDrill } from './drill.ts'
import type { Outcome } from './report.ts'
import { type Passed, parts } from './run.ts'

async function run({ part, directory, prepared, ...options }: Passed): Promise<Outcome> {
  await openNetwork('10.99.0.1')
  const engine = await startNamespaceEngine(join(directory, 'engine'))
  process.env.DOCKER_HOST = engine.address
  const cleanups: (() => unknown)[] = []
  const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
  try {
    for (const file of readdirSync(directory).filter((name) => name.endsWith('.tar')))
      await loadImage(engine.address, join(directory, file))
    return await runDrill(parts[part], options, { engine, prepared, scope, log })
  } finally {
    for (const cleanup of cleanups) await cleanup()
    await engine.stop()
  }
}

/** With CRASH_LOG, which `npm run crash` sets, a line is also shown at once. */
function log(line: string): void {
  console.log(JSON.stringify({ said: line }))
  if (process.env.CRASH_LOG) console.error(line)
}

try {
  console.log(JSON.stringify({ outcome: await run(JSON.parse(process.env.CRASH_RUN!)) }))
} catch (error) {
  console.log(JSON.stringify({ failure: String((error as Error).stack) }))
  process.exitCode = 1
}
process.exit()
