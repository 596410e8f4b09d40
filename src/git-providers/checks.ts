// The checks of a commit at a provider: runs, jobs and statuses, in the words of the provider.
import { z } from 'zod'
import { Failure } from '../errors.ts'
import type { ProviderName } from './base-url.ts'
import { repositoryUrl } from './commit-statuses.ts'
import { ask, type Instance, parseResponse } from './provider.ts'

export interface Check {
  name: string
  state: 'pending' | 'passed' | 'failed' | 'canceled'
}

/** `path` is below the address of the repository. */
type Reader = <Body>(path: string, body: z.ZodType<Body>) => Promise<Body>

/** Without those whose name starts with `own`. Throws what a request throws. */
export async function readChecks(
  instance: Instance,
  token: string,
  { repository, sha, own }: { repository: string; sha: string; own: string },
  signal: AbortSignal,
): Promise<Check[]> {
  const base = repositoryUrl(instance, repository)
  const read: Reader = async (path, body) =>
    parseResponse(body, instance, await ask(instance, { url: `${base}${path}`, token, signal }))
  const checks = await readers[instance.provider](read, sha)
  return checks.filter(({ name }) => !name.startsWith(own)).map((one) => ({ ...one, name: plain(one.name) }))
}

const readers: Record<ProviderName, (read: Reader, sha: string) => Promise<Check[]>> = {
  async github(read, sha) {
    const commit = `/commits/${sha}`
    const statuses = await readStatuses(read, `${commit}/status?per_page=${pageSize}`, pageSize)
    const runs = await readPages(runPageSize, async (page) => {
      const path = `${commit}/check-runs?filter=latest&per_page=${runPageSize}&page=${page}`
      return (await read(path, CheckRuns)).check_runs
    })
    const suites = await readPages(pageSize, async (page) => {
      const path = `${commit}/check-suites?per_page=${pageSize}&page=${page}`
      return (await read(path, CheckSuites)).check_suites
    })
    // An app that does not check this repository has a suite too, which never has a run.
    const open = suites.filter(({ status, runs }) => status !== 'completed' && runs > 0)
    const broken = suites.filter(({ conclusion, runs }) => conclusion === 'startup_failure' && runs === 0)
    return [
      ...statuses,
      ...runs.map(({ name, status, conclusion }) => ({ name, state: runState(status, conclusion) })),
      ...open.map(({ app }): Check => ({ name: app, state: 'pending' })),
      ...broken.map(({ app }): Check => ({ name: app, state: 'failed' })),
    ]
  },

  async gitlab(read, sha) {
    const all = await readPages(pageSize, (page) =>
      read(`/repository/commits/${sha}/statuses?per_page=${pageSize}&page=${page}`, GitlabStatuses),
    )
    const newest = new Map<string, (typeof all)[number]>()
    for (const one of all) if (one.id > (newest.get(one.name)?.id ?? 0)) newest.set(one.name, one)
    const statuses = [...newest.values()].flatMap(({ name, status, allow_failure }): Check[] => {
      const state = gitlabStates[status]
      // What waits for another job, or for a person, is up to the pipeline.
      return state === undefined || (allow_failure && state !== 'pending') ? [] : [{ name, state }]
    })
    const pipelines = await read(`/pipelines?sha=${sha}&per_page=20`, GitlabPipelines)
    // GitLab makes an external one for statuses.
    const pipeline = pipelines.find(({ source }) => source !== 'external')
    if (pipeline === undefined) return statuses
    return [...statuses, { name: 'pipeline', state: pipelineStates[pipeline.status] ?? 'pending' }]
  },

  // An instance may have smaller pages than the requested ones.
  gitea: (read, sha) => readStatuses(read, `/commits/${sha}/status?limit=${pageSize}`, 1),
}

const pageSize = 50
/** Each run has up to 130 KB of text, and a response may have 2 MiB. */
const runPageSize = 15
const maxItems = 1000

/** A page with fewer items is the last one, and so is one that brings nothing new. */
async function readPages<Item>(
  fullSize: number,
  readPage: (page: number) => Promise<Item[]>,
): Promise<Item[]> {
  const items = new Map<string, Item>()
  for (let page = 1; items.size < maxItems; page++) {
    const before = items.size
    const more = await readPage(page)
    for (const item of more) items.set(JSON.stringify(item), item)
    if (more.length < fullSize || items.size === before) return [...items.values()]
  }
  // One of those that were not read may have failed.
  throw new Failure('git_provider_unavailable', `the commit has more than ${maxItems} checks`)
}

async function readStatuses(read: Reader, path: string, fullSize: number): Promise<Check[]> {
  const statuses = await readPages(
    fullSize,
    async (page) => (await read(`${path}&page=${page}`, Combined)).statuses ?? [],
  )
  return statuses.map(({ context: name, state, status }) => ({
    name,
    state: statusStates[state ?? status ?? ''] ?? 'pending',
  }))
}

/** GitHub calls it `state`, Gitea `status`. */
const Combined = z.object({
  statuses: z
    .array(z.object({ context: z.string(), state: z.string().nullish(), status: z.string().nullish() }))
    .nullish(),
})
const CheckRuns = z.object({
  check_runs: z.array(
    z.object({ id: z.int(), name: z.string(), status: z.string(), conclusion: z.string().nullish() }),
  ),
})
const CheckSuites = z.object({
  check_suites: z.array(
    z
      .object({
        id: z.int(),
        status: z.string().nullish(),
        conclusion: z.string().nullish(),
        latest_check_runs_count: z.int(),
        app: z.object({ name: z.string() }).nullish(),
      })
      .transform((one) => ({
        id: one.id,
        status: one.status,
        conclusion: one.conclusion,
        runs: one.latest_check_runs_count,
        app: one.app?.name ?? 'a check suite',
      })),
  ),
})
const GitlabStatuses = z.array(
  z.object({ id: z.int(), name: z.string(), status: z.string(), allow_failure: z.boolean().nullish() }),
)
const GitlabPipelines = z.array(z.object({ status: z.string(), source: z.string().nullish() }))

const statusStates: Record<string, Check['state']> = {
  pending: 'pending',
  success: 'passed',
  warning: 'passed',
  skipped: 'passed',
  failure: 'failed',
  error: 'failed',
}

function runState(status: string, conclusion: string | null | undefined): Check['state'] {
  if (status !== 'completed') return 'pending'
  if (['success', 'neutral', 'skipped'].includes(conclusion ?? '')) return 'passed'
  return conclusion === 'cancelled' ? 'canceled' : 'failed'
}

const gitlabStates: Record<string, Check['state']> = {
  pending: 'pending',
  running: 'pending',
  success: 'passed',
  failed: 'failed',
  canceled: 'canceled',
}

/** All others have not ended. */
const pipelineStates: Record<string, Check['state']> = {
  success: 'passed',
  skipped: 'passed',
  failed: 'failed',
  canceled: 'canceled',
}

/** Everyone who may push chooses names. */
function plain(name: string): string {
  return name.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').slice(0, maxName)
}

const maxName = 100
