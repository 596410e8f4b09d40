// Connects a git account in the browser: opens the page of the server, and waits until the
// account is connected.
import type { GitConnection } from '../../api/git-connection.ts'
import { sleep } from '../../async/sleep.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure } from '../failure.ts'
import { openInBrowser } from '../terminal/browser.ts'
import { plain } from '../terminal/output.ts'

interface BrowserRequest {
  provider: string | undefined
  baseUrl?: string
  organization?: string
  resume?: string
  browser: boolean
}

const pollMs = 2000
/** A state of the server works for an hour. */
const waitMs = 60 * 60 * 1000

export async function connectInBrowser(cli: Cli, request: BrowserRequest): Promise<GitConnection> {
  const { out, client } = cli
  const before = await client.call<GitConnection[]>('GET', '/git/connections')
  const page = startPage(cli.server.url, request)
  out.say(' To connect the account, open this page:')
  out.say()
  out.say(`   ${out.tint('underline', plain(page))}`)
  out.say()
  if (request.browser) await openInBrowser(cli, page)
  out.animate((spinner) => [` ${out.tint('cyan', spinner)} waiting for the authorization`])
  try {
    return await waitForConnection(cli, before)
  } finally {
    out.rest()
  }
}

function startPage(serverUrl: string, { provider, baseUrl, organization, resume }: BrowserRequest): string {
  const fields = { provider, base_url: baseUrl, organization, connection_id: resume }
  const specified = Object.entries(fields).filter(
    (field): field is [string, string] => field[1] !== undefined,
  )
  const query = specified.length === 0 ? '' : `?${new URLSearchParams(specified)}`
  return `${serverUrl}/git/start${query}`
}

/** Any connection that was authorized since then: the account is chosen in the browser. */
async function waitForConnection({ client, signal }: Cli, before: GitConnection[]): Promise<GitConnection> {
  const earlierStates = new Map(before.map(({ id, status, updated_at }) => [id, `${status} ${updated_at}`]))
  for (const endsAt = Date.now() + waitMs; Date.now() < endsAt; ) {
    const now = await client.call<GitConnection[]>('GET', '/git/connections')
    const isNew = ({ id, status, updated_at }: GitConnection) =>
      status === 'connected' && earlierStates.get(id) !== `${status} ${updated_at}`
    const connected = now.find(isNew)
    if (connected) return connected
    await sleep(pollMs, signal)
  }
  throw new CliFailure('the account was not connected in time', { hint: 'berth git ls shows its state' })
}
