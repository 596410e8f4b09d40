// A signed-in browser as the server sees it: its cookie, and the origin of its requests.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const owner = { email: 'ada@example.com', password: 'correct horse battery' }

/** The headers of each request. */
export type SessionHeaders = { cookie: string; 'sec-fetch-site': 'same-origin' }

/** Creates the account of a new server. `dataDir` contains the setup code. */
export function signUp(url: string, dataDir: string): Promise<SessionHeaders> {
  const code = readFileSync(join(dataDir, 'setup_code'), 'utf8').trim()
  return enter(url, 'setup', { code, ...owner })
}

export function signIn(url: string): Promise<SessionHeaders> {
  return enter(url, 'login', owner)
}

async function enter(url: string, way: string, body: object): Promise<SessionHeaders> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/api/v1/auth/${way}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  const [cookie] = response.headers.getSetCookie()
  if (!cookie) throw new Error(`${way} answered ${response.status} ${await response.text()}`)
  return { cookie: cookie.split(';')[0]!, 'sec-fetch-site': 'same-origin' }
}
