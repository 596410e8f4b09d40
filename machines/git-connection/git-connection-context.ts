// The context of a git connection, and how exchanges and renewals change it.
import type { Problem } from '../problem.ts'
import type { SlotOutput } from '../slot.ts'

export type GitProvider = 'github' | 'gitlab' | 'gitea'
export type GitAuth = 'github_app' | 'oauth' | 'token'
export type InvalidReason = 'expired' | 'revoked' | 'uninstalled' | 'suspended'

/** The account, as the provider described it when it was last connected. */
export interface GitAccount {
  login: string
  name: string | null
  /** Empty if the provider does not report them. */
  scopes: string[]
  /** Where the account chooses the repositories of an app; null without an app. */
  manageUrl: string | null
  repositorySelection: 'all' | 'selected' | null
  installationId: number | null
  /** The end of a pasted token; null if it has none or the provider does not report it. */
  tokenExpiresAt: string | null
  /** The end of a pasted token's text; null for other authorizations. */
  tokenHint: string | null
  /** When the access token of an OAuth authorization ends; null if it does not. */
  accessExpiresAt: string | null
}

/** The app that GitHub registered for this connection. */
export interface GitApp {
  slug: string
  url: string
  clientId: string
}

export interface GitConnectionInput {
  id: string
  provider: GitProvider
  baseUrl: string
  auth: GitAuth
  /** The organization that will own the app; null for the user. */
  organization: string | null
  clientId: string | null
  /** Null for a connection that starts in the browser. */
  account: GitAccount | null
  /** Whether deploys are reported to the provider. Missing means false. */
  reportDeploys?: boolean
  at: string
}

export type ExchangeOutput = SlotOutput &
  (
    | { result: 'connected'; account: GitAccount }
    /** The app exists, and still has to be installed on an account. */
    | { result: 'registered'; app: GitApp; owner: string }
    /** The account has another connection, which got the authorization. */
    | { result: 'merged'; into: string; app: GitApp | null }
  )

export type GitConnectionEvent =
  /** The browser came back: the store has its grant. */
  | { type: 'callback'; at: string; by: string }
  /** An accepted authorization of the same account replaces the current one. */
  | { type: 'replace'; at: string; by: string; auth: GitAuth; account: GitAccount; app: GitApp | null }
  | { type: 'reports.set'; at: string; by: string; reportDeploys: boolean }
  /** The provider rejected the stored authorization. */
  | { type: 'invalidate'; at: string; reason: InvalidReason; message: string }
  /** Someone needs a token now. */
  | { type: 'renew'; at: string }
  | { type: 'delete'; at: string; by: string }

export interface RenewalOutput extends SlotOutput {
  accessExpiresAt: string | null
}

/** Where an exchange started. A failed one ends there again. */
export type Resting = 'registering' | 'installing' | 'authorizing' | 'connected' | 'invalid'

export interface GitConnectionContext extends GitConnectionInput {
  app: GitApp | null
  resting: Resting
  invalidReason: InvalidReason | null
  /** Why the last exchange or renewal failed. */
  problem: Problem | null
  /** The connection that the last exchange was for; null if it was this one. */
  mergedInto: string | null
  /** Renewals that failed in a row. */
  failedRenewals: number
  renewAt: string | null
  updatedAt: string
}

/** How long before the end of an access token it is renewed. */
const renewalLeadMs = 5 * 60 * 1000
const firstPauseMs = 30_000
const longestPauseMs = 60 * 60 * 1000

export function connectedContext(account: GitAccount, at: string) {
  return {
    account,
    invalidReason: null,
    problem: null,
    failedRenewals: 0,
    renewAt: account.tokenExpiresAt ?? renewalOf(account.accessExpiresAt, at),
    updatedAt: at,
  }
}

export function contextAfter(
  context: GitConnectionContext,
  output: ExchangeOutput,
): Partial<GitConnectionContext> {
  if (output.result === 'connected') return connectedContext(output.account, output.at)
  if (output.result === 'merged') return { mergedInto: output.into }
  return { app: output.app, organization: context.organization ?? output.owner, updatedAt: output.at }
}

/** Null for a token that does not expire. A provider with very short tokens must not cause a tight loop. */
export function renewalOf(expiresAt: string | null, at: string): string | null {
  if (expiresAt === null) return null
  const earliest = Date.parse(at) + firstPauseMs
  return new Date(Math.max(earliest, Date.parse(expiresAt) - renewalLeadMs)).toISOString()
}

export function retryOf(at: string, failures: number): string {
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 20))
  return new Date(Date.parse(at) + pauseMs).toISOString()
}
