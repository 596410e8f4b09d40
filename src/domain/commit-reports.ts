// What is reported to a git provider about a deploy of a commit.

interface ReportedDeploy {
  status: string
  phase: string | null
  commit_sha: string | null
  error: string | null
  source: { kind: string; repo_url: string | null; commit: string | null }
}

interface Report {
  state: 'pending' | 'success' | 'failure' | 'canceled'
  description: string
}

/** The id of the reports of a deploy: each deploy has one actor for them. */
export function commitStatusIdOf(deployId: string): string {
  return `sta-${deployId.slice(deployId.indexOf('-') + 1)}`
}

/**
 * Whether the deploy makes a version from a commit. A restart and a rollback do not: a failure of theirs says
 * nothing about the commit.
 */
export function isOfCommit({ source }: ReportedDeploy): boolean {
  return source.kind === 'git' && source.repo_url !== null
}

/** Null as long as it is unknown. */
export function commitOf({ commit_sha, source }: ReportedDeploy): string | null {
  if (commit_sha !== null) return commit_sha
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(source.commit ?? '') ? source.commit : null
}

/** It succeeds once the version serves, not when it is built. */
export function reportOf({ status, phase, error }: ReportedDeploy): Report {
  if (status === 'queued') return { state: 'pending', description: 'Queued' }
  if (status === 'running') return { state: 'pending', description: 'Deploying' }
  if (status === 'canceled') return { state: 'canceled', description: error ?? 'canceled' }
  if (status !== 'failed') return { state: 'success', description: 'Live' }
  const where = phase === null ? 'Failed' : `Failed while ${phase}`
  return { state: 'failure', description: error === null ? where : `${where}: ${error}` }
}
