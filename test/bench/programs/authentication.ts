// The cost of authentication by each kind of credential. Prints `{ token, session, server }` in microseconds.
// Usage: authentication DATA_DIRECTORY
import { openAccountPorts } from '../../../src/account/ports.ts'
import { authenticate } from '../../../src/http/pipeline/auth.ts'
import type { HttpContext } from '../../../src/http/pipeline/context.ts'
import type { Request } from '../../../src/http/server/messages.ts'
import { openStorage } from '../../../storage/index.ts'

const looks = 100_000
const route = { credential: 'any', role: 'read', answer: 'text' } as const
const noQuery = new URLSearchParams()

const storage = await openStorage(process.argv[2]!, { onPanic: (reason) => console.error(reason) })
const context = { ...openAccountPorts(storage), isTrustedProxy: () => false } as unknown as HttpContext
const at = new Date().toISOString()
const row = { created_at: at, last_used_at: at }
await storage.commit((commit) => {
  const token = { role: 'admin', services: null, expires_at: null, ...row } as const
  storage.tokens.insert(commit, 'bth_bench', { id: 'tok-1', name: 'bench', hint: 'ench', ...token })
  storage.sessions.insert(commit, 'bths_bench', { id: 'ses-1', user_agent: null, ...row })
})

const requestWith = (name: string, value: string) =>
  ({
    method: 'GET',
    address: () => '127.0.0.1',
    headers: new Map([
      ['host', 'localhost:7878'],
      [name, value],
    ]),
  }) as unknown as Request

function microsecondsOf(request: Request): number {
  const startedAt = performance.now()
  for (let look = 0; look < looks; look++) authenticate(context, request, noQuery, route)
  return ((performance.now() - startedAt) * 1000) / looks
}

const requests = {
  token: requestWith('authorization', 'Bearer bth_bench'),
  session: requestWith('cookie', 'svc_session_7878=bths_bench'),
  server: requestWith('authorization', `Bearer ${storage.serverToken}`),
}
const measured = Object.entries(requests).map(([name, request]) => {
  microsecondsOf(request) // warms up
  return [name, microsecondsOf(request)]
})
console.log(JSON.stringify(Object.fromEntries(measured)))
await storage.close()
