// The job run inside a namespace with a private engine.
// Writes JSON lines to stdout: log lines as they come, and the outcome last.
import { join } from 'node:path'
import { loadImage, startNamespaceEngine } from '../../support/docker/namespace-engine.ts'
import { openNetwork } from '../../support/system/namespace.ts'
import { playDrill, type StageOptions } from './stage.ts'

/** Passed in through the environment. */
type Passed = Omit<StageOptions, 'log'> & { prepared: string }

async function run({ prepared, ...options }: Passed) {
  await openNetwork('10.99.0.1')
  const engine = await startNamespaceEngine(join(prepared, 'engine'))
  process.env.DOCKER_HOST = engine.address
  await loadImage(engine.address, join(prepared, 'busybox.tar'))
  const cleanups: (() => unknown)[] = []
  const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
  try {
    return await playDrill(scope, { ...options, log }, engine)
  } finally {
    for (const cleanup of cleanups) await cleanup()
    await engine.stop()
  }
}

function log(line: string): void {
  console.log(JSON.stringify({ said: line }))
  if (process.env.SAID_AT_ONCE) console.error(line)
}

const passed: Passed = JSON.parse(process.env.JOB_RUN!)
try {
  console.log(JSON.stringify({ outcome: await run(passed) }))
} catch (error) {
  console.log(JSON.stringify({ failure: String((error as Error).stack) }))
  process.exitCode = 1
}
process.exit()
