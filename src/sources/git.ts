// Checks out a commit of a repository.
import { mkdir } from 'node:fs/promises'
import type { ServiceRow } from '../../storage/services.ts'
import { Failure } from '../errors.ts'
import { checkoutSource } from '../git/checkout.ts'
import { readHighestTags } from '../git/remote.ts'
import { parseRepositoryUrl } from '../git/repository.ts'
import type { FetchJob, GitAccess, Source } from './source.ts'

export const git: Source = {
  fetch: checkOut,
  ignoredFileAdvice: 'if .gitignore leaves it out, a step of the Dockerfile must make it',
}

async function checkOut(job: FetchJob) {
  const { source, directory } = job
  await mkdir(directory, { recursive: true })
  const access = await job.accessRepository(parseRepositoryUrl(source.repo_url!))
  const { branch } = source
  const commit = source.commit ?? (await highestTag(job, access))
  const checkout = await checkoutSource({ ...job, ...access, branch, commit, marker: job.deployId })
  if (branch === null && checkout.branch !== null) await saveDefaultBranch(job, checkout.branch)
  return checkout
}

/** The commit of the highest tag; null if the service follows none. */
async function highestTag(job: FetchJob, access: GitAccess): Promise<string | null> {
  const { tagPattern: pattern } = job
  if (pattern === null) return null
  const { found } = await readHighestTags({ ...job, ...access, marker: job.deployId }, pattern)
  const { url } = access.repository
  if (found.length === 0) throw new Failure('source_not_found', `no tag of ${url} matches ${pattern}`)
  job.onLine(`${found[0]!.name} is the highest tag that matches ${pattern}`)
  return found[0]!.commit
}

/** Saves the default branch in the service's settings, because the remote may change its default later. */
async function saveDefaultBranch({ storage, serviceId, source }: FetchJob, branch: string) {
  const isMatch = (row: ServiceRow | null) => row?.branch === null && row.repo_url === source.repo_url
  const { services } = storage
  if (!isMatch(services.get(serviceId))) return
  await services.update(serviceId, (row) => (isMatch(row) ? { ...row, branch, branch_learnt: true } : row))
}
