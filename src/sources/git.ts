// Checks out a commit of a repository.
import { mkdir } from 'node:fs/promises'
import type { ServiceRow } from '../../storage/services.ts'
import { checkoutSource } from '../git/checkout.ts'
import { parseRepositoryUrl } from '../git/repository.ts'
import type { FetchJob, Source } from './source.ts'

export const git: Source = {
  fetch: checkOut,
  ignoredFileAdvice: 'if .gitignore leaves it out, a step of the Dockerfile must make it',
}

async function checkOut(job: FetchJob) {
  const { source, directory } = job
  await mkdir(directory, { recursive: true })
  const access = await job.accessRepository(parseRepositoryUrl(source.repo_url!))
  const { branch, commit } = source
  const checkout = await checkoutSource({ ...job, ...access, branch, commit, marker: job.deployId })
  if (branch === null && checkout.branch !== null) await saveDefaultBranch(job, checkout.branch)
  return checkout
}

/** Saves the default branch in the service's settings, because the remote may change its default later. */
async function saveDefaultBranch({ storage, serviceId, source }: FetchJob, branch: string) {
  const isMatch = (row: ServiceRow | null) => row?.branch === null && row.repo_url === source.repo_url
  const { services } = storage
  if (!isMatch(services.get(serviceId))) return
  await services.update(serviceId, (row) => (isMatch(row) ? { ...row, branch, branch_learnt: true } : row))
}
