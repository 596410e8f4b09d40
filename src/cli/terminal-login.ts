// The terminal login: shows a page and a code to compare, then polls until the administrator has approved it.
// The token is returned once. The secret that polls for it never leaves this process.

import type { PolledTerminalLogin, StartedTerminalLogin } from '../api/access/terminal-login.ts'
import { sleep } from '../async/sleep.ts'
import type { Client } from './client/client.ts'
import type { Cli } from './client/session.ts'
import { CliFailure, exitCodes, interruption } from './failure.ts'

export interface StartedLogin extends StartedTerminalLogin {
  page: string
}

/**
 * Requests a login; `name` becomes the name of the token. The account page shows the start code. Throws if
 * the server has no account yet.
 */
export async function startTerminalLogin(
  client: Client,
  { name, startCode }: { name: string; startCode: string | undefined },
): Promise<StartedLogin> {
  const body = { name, ...(startCode === undefined ? {} : { start_code: startCode }) }
  const started = await client
    .call<StartedTerminalLogin>('POST', '/auth/cli', { body })
    .catch((error: unknown) => {
      throw error instanceof CliFailure ? withNextStep(error, client.url, startCode) : error
    })
  return { ...started, page: `${client.url}/cli-login?id=${encodeURIComponent(started.id)}` }
}

/** Resolves with the token. While the server is unavailable, polling continues until the login expires. */
export async function awaitApproval(cli: Cli, client: Client, login: StartedLogin): Promise<string> {
  const deadline = Date.now() + login.expires_in * 1000
  let pauseSeconds = login.interval
  let isUnavailable = false
  while (Date.now() < deadline) {
    await sleep(Math.min(pauseSeconds * 1000, deadline - Date.now()), cli.signal).catch(() => {
      throw interruption()
    })
    const response = await poll(client, login)
    if (response.kind === 'token') return response.token
    pauseSeconds = response.kind === 'later' ? response.seconds : login.interval
    if (response.kind === 'away' && !isUnavailable) cli.out.say(' ! the server does not respond; retrying')
    if (response.kind === 'pending' && isUnavailable) cli.out.say(' ! the server responds again')
    isUnavailable = response.kind === 'away'
  }
  throw expired(client.url)
}

type Polled =
  | { kind: 'pending' }
  | { kind: 'away' }
  | { kind: 'later'; seconds: number }
  | { kind: 'token'; token: string }

async function poll(client: Client, { id, secret }: StartedLogin): Promise<Polled> {
  const path = `/auth/cli/${encodeURIComponent(id)}/token`
  try {
    const { status, token } = await client.call<PolledTerminalLogin>('POST', path, { body: { secret } })
    if (status === 'denied') throw denied(client.url)
    return status === 'approved' && token ? { kind: 'token', token } : { kind: 'pending' }
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error
    if (error.exitCode === exitCodes.unreachable || error.code === 'unavailable') return { kind: 'away' }
    if (error.code === 'slow_down') return { kind: 'later', seconds: error.retryAfterSeconds ?? 2 }
    throw error.exitCode === exitCodes.notFound ? expired(client.url) : error
  }
}

function withNextStep(failure: CliFailure, url: string, startCode: string | undefined): CliFailure {
  if (failure.code === 'conflict') {
    const hint = 'first open the setup link that the server printed when it started, then try again'
    return new CliFailure(failure.message, { ...failure, hint })
  }
  if (failure.code !== 'too_many_attempts' || startCode !== undefined) return failure
  const hint = `berth login ${url} --code CODE   # the start code that ${url}/account shows`
  return new CliFailure(failure.message, { ...failure, hint })
}

function denied(url: string): CliFailure {
  const hint = `berth login ${url} starts over`
  return new CliFailure('the login was denied', { exitCode: exitCodes.refused, hint })
}

function expired(url: string): CliFailure {
  const message = 'the login has expired: it was not approved in time, or the server was restarted'
  return new CliFailure(message, { hint: `berth login ${url} starts over` })
}
