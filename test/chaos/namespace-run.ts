// A run of chaos inside a namespace with an engine of its own. Writes JSON lines to stdout: log lines as they
// come, and the outcome last.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Prepared } from '../crash/part.ts'
import { loadImage, startNamespaceEngine } from '../support/docker/namespace-engine.ts'
import { openNetwork } from '../support/system/namespace.ts'
import { type ChaosOptions, type ChaosOutcome, runChaos } from './run.ts'

export type Passed = ChaosOptions & { directory: string; prepared: Prepared }

async function run({ directory, prepared, ...options }: Passed): Promise<ChaosOutcome> {
  await openNetwork('10.99.0.1')
  const engine = await startNamespaceEngine(join(directory, 'engine'))
  process.env.DOCKER_HOST = engine.address
  const cleanups: (() => unknown)[] = []
  const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
  try {
    for (const file of readdirSync(directory).filter((name) => name.endsWith('.tar')))
      await loadImage(engine.address, join(directory, file))
    const log = (line: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`)
    return await runChaos(options, { engine, prepared, scope, log })
  } finally {
    for (const cleanup of cleanups) await cleanup()
    await engine.stop()
  }
}

try {
  console.log(JSON.stringify({ outcome: await run(JSON.parse(process.env.CHAOS_RUN!)) }))
} catch (error) {
  console.log(JSON.stringify({ failure: String((error as Error).stack) }))
  process.exitCode = 1
}
process.exit()
