// The API with a datastore called shop, and with clients that only say what they were asked.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type OwnedApi, startOwned } from './account.ts'
import { token } from './http-context.ts'
import { eventually } from './supervised.ts'
import {
  openFakeClients,
  type Refusal,
  type Spoken,
  storeDatastore,
  type Talker,
  tryTalking,
} from './talker.ts'

export const bearer = { authorization: `Bearer ${token}` }
/** The first message. */
export const start = { type: 'start', words: [], terminal: null }
export const pathOf = (name: string) => `/api/v1/datastores/${name}/client`

export interface House extends OwnedApi {
  spoken: Spoken[]
  tried(path: string, headers?: Record<string, string>): Promise<Talker | Refusal>
  /** It must get in. */
  talk(headers?: Record<string, string>): Promise<{ talker: Talker; client: Spoken }>
  /** The same, with a client that has started. */
  begun(): Promise<{ talker: Talker; client: Spoken }>
}

export async function openHouse(
  t: TestContext,
  overrides: Parameters<typeof startOwned>[1] = {},
): Promise<House> {
  const { clients, spoken } = openFakeClients()
  const api = await startOwned(t, { clients, ...overrides })
  await storeDatastore(api.storage, 'shop')
  const tried: House['tried'] = (path, headers = bearer) => tryTalking(t, api.url, path, headers)
  const talk: House['talk'] = async (headers) => {
    const talker = await tried(pathOf('shop'), headers)
    assert.ok('socket' in talker, `refused: ${talker}`)
    return { talker, client: spoken.at(-1)! }
  }
  const begun: House['begun'] = async () => {
    const talking = await talk()
    talking.talker.say(start)
    await eventually('the start', () => talking.client.start)
    return talking
  }
  return { ...api, spoken, tried, talk, begun }
}
