// The main program of a drill inside a namespace with an engine of its own. The last line on stdout is JSON:
// the outcome, or the reason why it failed.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openNetwork } from '../system/namespace.ts'
import { loadImage, type NamespaceEngine, startNamespaceEngine } from './namespace-engine.ts'

export interface Setting {
  engine: NamespaceEngine
  scope: { after(cleanup: () => unknown): void }
}

/** The engine has the images that are saved as tar files in `directory`. Ends the process. */
export async function reportRun(
  directory: string,
  drill: (setting: Setting) => Promise<unknown>,
): Promise<never> {
  try {
    console.log(JSON.stringify({ outcome: await withEngine(directory, drill) }))
  } catch (error) {
    console.log(JSON.stringify({ failure: String((error as Error).stack) }))
    process.exitCode = 1
  }
  process.exit()
}

async function withEngine<T>(directory: string, drill: (setting: Setting) => Promise<T>): Promise<T> {
  await openNetwork('10.99.0.1')
  const engine = await startNamespaceEngine(join(directory, 'engine'))
  process.env.DOCKER_HOST = engine.address
  const cleanups: (() => unknown)[] = []
  const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
  try {
    for (const file of readdirSync(directory).filter((name) => name.endsWith('.tar')))
      await loadImage(engine.address, join(directory, file))
    return await drill({ engine, scope })
  } finally {
    for (const cleanup of cleanups) await cleanup()
    await engine.stop()
  }
}
