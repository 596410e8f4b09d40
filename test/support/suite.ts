// One daemon for all tests of a file, and services of a test on it: real git, real Docker.
import { after, before } from 'node:test'
import type { Api, Body } from './api.ts'
import { type DaemonOptions, launchDaemon, type TestDaemon } from './daemon.ts'
import type { Scope } from './directory.ts'
import { createRepository, type TestRepository } from './repository.ts'
import { finishedDeploy, pageApp } from './service.ts'

export interface Suite {
  readonly daemon: TestDaemon
  readonly api: Api
}

/** Starts the daemon before the file's tests, and removes it with all it made after them. */
export function daemonSuite(options: DaemonOptions = {}): Suite {
  let daemon: TestDaemon | null = null
  before(async () => {
    daemon = await launchDaemon(options)
  })
  after(() => daemon?.remove())
  return {
    get daemon() {
      return daemon!
    },
    get api() {
      return daemon!.api
    },
  }
}

let count = 0

export interface TestService {
  name: string
  id: string
  repository: TestRepository
  /** The first deploy, finished; null when none was asked for. */
  first: Body
  /** Commits the files and deploys them; the answer is the finished deploy. */
  deploy(files: Record<string, string>): Promise<Body>
  /** Asks for a deploy and does not wait. */
  request(body?: object): Promise<Body>
}

/** A service made from a repository with these files; its first deploy is finished. */
export async function createService(
  t: Scope,
  api: Api,
  files: Record<string, string> | null,
  settings: object = {},
): Promise<TestService> {
  const name = `app-${process.pid}-${++count}`
  const repository = createRepository(t)
  repository.commit('First', files ?? (await pageApp('one')))
  const made = await api.post('/services', {
    name,
    type: 'web_service',
    repo_url: repository.directory,
    drain_seconds: 0,
    ...settings,
  })
  const request = (body: object = {}) => api.post(`/services/${name}/deploys`, body)
  return {
    name,
    id: made.id,
    repository,
    first: made.latest_deploy ? await finishedDeploy(api, made.latest_deploy.id) : null,
    request,
    async deploy(changed) {
      repository.commit('Next', changed)
      return finishedDeploy(api, (await request()).id)
    },
  }
}
