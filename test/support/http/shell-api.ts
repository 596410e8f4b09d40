// The API with a datastore called shop and fake clients.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { eventually } from '../supervisor/supervision.ts'
import { type AccountApi, startWithAccount } from './account.ts'
import { token } from './http-context.ts'
import {
  type FakeClient,
  openFakeClients,
  type Refusal,
  storeDatastore,
  tryConnecting,
  type WsClient,
} from './ws-client.ts'

export const bearer = { authorization: `Bearer ${token}` }
/** The first message of a client. */
export const start = { type: 'start', words: [], terminal: null }
export const pathOf = (name: string) => `/api/v1/datastores/${name}/client`

export interface ShellApi extends AccountApi {
  opened: FakeClient[]
  tryOpen(path: string, headers?: Record<string, string>): Promise<WsClient | Refusal>
  /** Fails if the connection is refused. */
  open(headers?: Record<string, string>): Promise<{ ws: WsClient; client: FakeClient }>
  /** Also sends `start`. */
  openStarted(): Promise<{ ws: WsClient; client: FakeClient }>
}

export async function openShellApi(
  t: TestContext,
  overrides: Parameters<typeof startWithAccount>[1] = {},
): Promise<ShellApi> {
  const { clients, opened } = openFakeClients()
  const api = await startWithAccount(t, { clients, ...overrides })
  await storeDatastore(api.storage, 'shop')
  const tryOpen: ShellApi['tryOpen'] = (path, headers = bearer) => tryConnecting(t, api.url, path, headers)
  const open: ShellApi['open'] = async (headers) => {
    const ws = await tryOpen(pathOf('shop'), headers)
    assert.ok('socket' in ws, `refused: ${ws}`)
    return { ws, client: opened.at(-1)! }
  }
  const openStarted: ShellApi['openStarted'] = async () => {
    const session = await open()
    session.ws.send(start)
    await eventually('the start', () => session.client.start)
    return session
  }
  return { ...api, opened, tryOpen, open, openStarted }
}
