// Whether the engine's builder still builds. BuildKit can hang for good: then every test with a build would
// fail by its own deadline, one after the other.
import { tarOf } from './archive.ts'
import { askEngine } from './engine-request.ts'
import { Unprepared } from './unprepared.ts'

const limitMs = 60_000
const recipe = 'FROM scratch\nCOPY Dockerfile /\nLABEL berth.test=probe\n'

/** Builds next to nothing. Throws `Unprepared` when that has not ended after the limit. */
export async function requireBuilder(address: string, timeoutMs = limitMs): Promise<void> {
  const body = { type: 'application/x-tar', bytes: await tarOf([{ name: 'Dockerfile', content: recipe }]) }
  try {
    const { text } = await askEngine(address, '/build?version=2', { method: 'POST', body, timeoutMs })
    const image = /"moby\.image\.id","aux":\{"ID":"(sha256:[0-9a-f]{64})"/.exec(text)?.[1]
    if (image) await askEngine(address, `/images/${image}`, { method: 'DELETE' })
  } catch (error) {
    // Other failures appear in the tests that build.
    if (!(error instanceof Error) || !/^(Timeout|Abort)Error$/.test(error.name)) throw error
    const seconds = timeoutMs / 1000
    const trouble = `hangs (a trivial build took over ${seconds} s): restart that engine.`
    throw new Unprepared(`The builder of the Docker engine at ${address} ${trouble}`)
  }
}
