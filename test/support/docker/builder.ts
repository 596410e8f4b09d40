// Checks that the engine still builds. BuildKit can hang permanently, and then every test with a build would
// fail at its own deadline.
import { probeBuilder } from '../../../src/docker/build/build-fallback.ts'
import { openEngine } from '../../../src/docker/engine/client.ts'
import { MissingPrerequisite } from '../system/missing-prerequisite.ts'

const limitMs = 60_000

/** Runs a minimal build. Throws `MissingPrerequisite` if it has not ended within the limit. */
export async function requireBuilder(address: string, timeoutMs = limitMs): Promise<void> {
  const engine = openEngine(address)
  const limit = AbortSignal.timeout(timeoutMs)
  try {
    await probeBuilder(engine, limit)
  } catch (error) {
    // Other failures show up in the tests that build.
    if (!limit.aborted) throw error
    const seconds = timeoutMs / 1000
    const problem = `hangs (a trivial build took over ${seconds} s): restart that engine.`
    throw new MissingPrerequisite(`The builder of the Docker engine at ${address} ${problem}`)
  } finally {
    engine.close()
  }
}
