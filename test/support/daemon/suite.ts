// One daemon for all tests of a file, and its services, with real git and real Docker.
import { after, before } from 'node:test'
import { createRepository, type TestRepository } from '../git/repository.ts'
import type { Scope } from '../system/directory.ts'
import type { Api, Body } from './api.ts'
import { type DaemonOptions, launchDaemon, type TestDaemon } from './daemon.ts'
import { finishedDeploy, pageApp } from './service.ts'

export interface Suite {
  readonly daemon: TestDaemon
  readonly api: Api
}

/** Starts the daemon before the file's tests; removes it and everything it created afterwards. */
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
  /** The first deploy, finished; null if none was requested. */
  first: Body
  /** Commits the files and deploys them; returns the finished deploy. */
  deploy(files: Record<string, string>): Promise<Body>
  /** Requests a deploy without waiting for it. */
  request(body?: object): Promise<Body>
}

/** Creates a service from a repository with these files, and waits for its first deploy. */
export async function createService(
  t: Scope,
  api: Api,
  files: Record<string, string> | null,
  settings: object = {},
): Promise<TestService> {
  const name = `app-${process.pid}-${++count}`
  const repository = createRepository(t)
  repository.commit('First', files ?? (await pageApp('one')))
  const service = await api.post('/services', {
    name,
    type: 'web_service',
    repo_url: repository.directory,
    drain_seconds: 0,
    ...settings,
  })
  const request = (body: object = {}) => api.post(`/services/${name}/deploys`, body)
  return {
    name,
    id: service.id,
    repository,
    first: service.latest_deploy ? await finishedDeploy(api, service.latest_deploy.id) : null,
    request,
    async deploy(changed) {
      repository.commit('Next', changed)
      return finishedDeploy(api, (await request()).id)
    },
  }
}
