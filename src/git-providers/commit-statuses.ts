// The status of a commit at a provider: what it shows next to the commit.
import type { ProviderName } from './base-url.ts'
import { ask, type Instance } from './provider.ts'
import { providers } from './providers.ts'
import { ProviderRejection } from './request.ts'

export interface CommitStatus {
  /** Without the address of the instance, as in `ada/shop`. */
  repository: string
  sha: string
  state: 'pending' | 'success' | 'failure' | 'canceled'
  label: string
  description: string
  /** Null without a page. */
  url: string | null
}

/** Only GitLab has a word for what was canceled: it is neither a success nor a failure of the commit. */
const words: Record<ProviderName, Record<CommitStatus['state'], string>> = {
  github: { pending: 'pending', success: 'success', failure: 'failure', canceled: 'error' },
  gitlab: { pending: 'pending', success: 'success', failure: 'failed', canceled: 'canceled' },
  gitea: { pending: 'pending', success: 'success', failure: 'failure', canceled: 'warning' },
}

/** That of GitHub, the shortest. */
const maxDescription = 140

/** Replaces the status with the same label. Throws `ProviderRejection` for a refusal. */
export async function sendCommitStatus(
  instance: Instance,
  token: string,
  { repository, sha, state, label, description, url: page }: CommitStatus,
  signal: AbortSignal,
): Promise<void> {
  const json = {
    state: words[instance.provider][state],
    context: label,
    description: shorten(description, maxDescription),
    ...(page !== null && { target_url: page }),
  }
  const url = `${repositoryUrl(instance, repository)}/statuses/${sha}`
  try {
    await ask(instance, { method: 'POST', url, json, token, signal })
  } catch (error) {
    if (!isRepetition(instance, error)) throw error
  }
}

/** GitLab refuses the state that a status has already. */
function isRepetition({ provider }: Instance, error: unknown): boolean {
  const isRefusal = error instanceof ProviderRejection && error.status === 400
  return provider === 'gitlab' && isRefusal && /cannot transition status/i.test(JSON.stringify(error.body))
}

/** The address of a repository in the API. */
export function repositoryUrl({ provider, baseUrl }: Instance, repository: string): string {
  const api = providers[provider].apiUrl(baseUrl)
  if (provider === 'gitlab') return `${api}/projects/${encodeURIComponent(repository)}`
  return `${api}/repos/${repository.split('/').map(encodeURIComponent).join('/')}`
}

/** In UTF-16 units, without half a character at the end. */
function shorten(text: string, length: number): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  if (line.length <= length) return line
  return `${line.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
