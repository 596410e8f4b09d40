// Restored servers inside a namespace with an engine of its own, which has only the images that it was given.
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { fetchPage, until } from '../support/daemon/service.ts'
import { reportRun } from '../support/docker/namespace-run.ts'
import { readAll } from './responses.ts'

/** The input: data directories of the same server, of which the first has all of its images there. */
export interface Passed {
  directory: string
  dataDirs: string[]
  prefix: string
  /** What the page of each service contains. */
  page: string
}

/** What each of them returns. */
export type Restored = { names: string[]; isHeld: boolean; responses: Record<string, unknown> }[]

const { directory, dataDirs, prefix, page } = JSON.parse(process.env.RESTORE_RUN!) as Passed

await reportRun(directory, async () => {
  const restored: Restored = []
  for (const [place, dataDir] of dataDirs.entries()) {
    const daemon = await launchDaemon({ dataDir, args: ['--prefix', prefix] })
    try {
      restored.push(await look(daemon, place === 0))
    } finally {
      await daemon.stop()
    }
  }
  return restored
})

async function look({ api }: TestDaemon, hasImages: boolean): Promise<Restored[number]> {
  const services = await api.get('/services')
  const names: string[] = services.map(({ name }: { name: string }) => name).sort()
  const answers = (name: string) => fetchPage(api, name).then((text) => text.includes(page))
  if (hasImages) for (const name of names) await until(`${name} to answer`, () => answers(name))
  const { held } = await api.get('/info')
  return { names, isHeld: held !== null, responses: hasImages ? await readAll(api) : {} }
}
