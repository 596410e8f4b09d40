// Puts a stopped daemon's data directory and engine into the state of the version whose names had no MAC.
import Docker from 'dockerode'
import { openStore } from '../../../storage/store/store.ts'
import { ensureEngine } from '../docker/engine.ts'

/** The schema of that version. */
const formerSchema = 4

export async function restoreFormerNames({ dataDir, prefix }: { dataDir: string; prefix: string }) {
  const docker = new Docker({ socketPath: (await ensureEngine()).replace('unix://', '') })
  const filters = { label: [`berth.instance=${prefix}`] }
  for (const { Id, Names, Labels } of await docker.listContainers({ all: true, filters })) {
    const ulid = Labels['berth.id']?.split('-')[1]
    const name = Names[0]!.slice(1).replace(/-[a-z2-7]{16}-(\d+|job|pre-deploy)$/, `-${ulid}-$1`)
    if (Labels['berth.service-id']) await docker.getContainer(Id).rename({ name })
  }
  for (const { RepoTags } of await docker.listImages({ filters: { reference: [`${prefix}/*`] } })) {
    for (const name of RepoTags ?? []) {
      const [repo = '', tag = ''] = withoutMacs(name).split(':')
      await docker.getImage(name).tag({ repo, tag })
      await docker.getImage(name).remove()
    }
  }
  await restoreStore(dataDir)
}

async function restoreStore(dataDir: string): Promise<void> {
  const store = openStore(dataDir, { onPanic: (reason) => Promise.reject(new Error(reason)) })
  await store.commit(() => {
    for (const table of ['actors', 'records'].map((name) => store.table(name))) {
      for (const { key, value } of [...table.validRows()]) {
        table.put(key, JSON.parse(withoutMacs(JSON.stringify(value))))
      }
    }
    for (const key of ['schema', 'schema_copy']) store.table('meta').put(key, formerSchema)
    for (const key of ['former_names', 'former_names_copy']) store.table('server').remove(key)
  })
  await store.close()
}

function withoutMacs(text: string): string {
  return text.replaceAll(/(:dep-[0-9a-z]{26})-[a-z2-7]{16}/g, '$1')
}
