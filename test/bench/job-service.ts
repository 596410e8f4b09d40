// Live services with a minimal image, for measurements of job runs.
import type { Api, Body } from '../support/daemon/api.ts'
import { dockerfile, finishedDeploy } from '../support/daemon/service.ts'
import { createRepository } from '../support/git/repository.ts'
import type { Bench } from './bench.ts'

export interface JobService {
  id: string
  /** The id of its live deploy. */
  deployId: string
  image: string
}

export async function createRepositoryOfNothing(bench: Bench): Promise<string> {
  const repository = createRepository(bench)
  repository.commit('First', { Dockerfile: await dockerfile('CMD ["true"]') })
  return repository.directory
}

/** Resolves when the service is live. */
export async function createLive(api: Api, body: Record<string, unknown>): Promise<JobService> {
  const service: Body = await api.post('/services', { drain_seconds: 0, ...body })
  const { id, status, error, image } = await finishedDeploy(api, service.latest_deploy.id)
  if (status !== 'live') throw new Error(`the first deploy of ${body.name} is ${status}: ${error}`)
  return { id: service.id, deployId: id, image }
}

/** A cron job that does not come due during the measurement; it has no instance that uses resources. */
export function createIdle(api: Api, repoUrl: string): Promise<JobService> {
  const cron = { name: 'idle', type: 'cron_job', schedule: '0 0 1 1 *' }
  return createLive(api, { ...cron, repo_url: repoUrl })
}
