// An app of the soak test: a service, and the repository whose commits are its versions.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Chance } from '../crash/random.ts'
import type { Api } from '../support/daemon/api.ts'
import { finishedDeploy } from '../support/daemon/service.ts'
import { baseImages } from '../support/docker/images.ts'
import { createRepository, type TestRepository } from '../support/git/repository.ts'
import type { Scope } from '../support/system/directory.ts'
import { createDeck } from './deck.ts'

export interface App {
  name: string
  id: string
  /** The wanted number of instances. */
  instances: number
  /** Commits the next version and returns its description. */
  release(): string
}

export interface AppSettings {
  name: string
  instances: number
  drainSeconds: number
}

const appProgram = fileURLToPath(new URL('app/server.js', import.meta.url))
const wsPackage = fileURLToPath(new URL('../../node_modules/ws', import.meta.url))
/** How a version reacts to SIGTERM. */
const sigtermBehaviors = ['graceful', 'abrupt', 'ignoring', 'graceful'] as const
const maxStartDelayMs = 1000

/** Creates the service and waits until its first version is live. */
export async function createApp(scope: Scope, api: Api, chance: Chance, settings: AppSettings): Promise<App> {
  const { name, instances, drainSeconds } = settings
  const repository = createRepository(scope)
  const release = createReleases(repository, (await baseImages()).node, chance)
  release()
  const { id, latest_deploy } = await api.post('/services', {
    name,
    type: 'web_service',
    repo_url: repository.directory,
    health_check_path: '/healthz',
    drain_seconds: drainSeconds,
    instances,
  })
  const { status, error } = await finishedDeploy(api, latest_deploy.id)
  if (status !== 'live') throw new Error(`the first version of ${name} is ${status}: ${error}`)
  return { name, id, instances, release }
}

function createReleases(repository: TestRepository, base: string, chance: Chance): () => string {
  cpSync(appProgram, join(repository.directory, 'server.js'))
  cpSync(wsPackage, join(repository.directory, 'node_modules/ws'), { recursive: true })
  const mannerOf = createDeck(chance, sigtermBehaviors)
  let count = 0
  return () => {
    const [version, manner, delayMs] = [`v${++count}`, mannerOf(), chance.whole(0, maxStartDelayMs)]
    const command = ['node', 'server.js', version, manner, String(delayMs)]
    repository.commit(version, {
      'package.json': '{ "private": true, "type": "module" }\n',
      Dockerfile: `FROM ${base}\nWORKDIR /app\nCOPY . .\nCMD ${JSON.stringify(command)}\n`,
    })
    return `${version}, ${manner}`
  }
}
