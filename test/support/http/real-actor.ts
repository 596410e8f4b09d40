// A terminal login: one of the actors that are real in the API of the tests.
import type { Api } from './http-context.ts'

/** It waits for an answer. Returns its id. */
export async function startLogin({ storage, context }: Pick<Api, 'storage' | 'context'>): Promise<string> {
  const [id, now] = [storage.ids.newId('cli'), Date.now()]
  await context.actors.spawn('terminal-login', id, {
    id,
    bootId: context.terminalLogins.bootId,
    code: 'ACEF-HJKM',
    name: 'canary',
    secretHash: 'x',
    address: '192.0.2.1',
    at: new Date(now).toISOString(),
    expiresAt: new Date(now + 600_000).toISOString(),
  })
  return id
}
