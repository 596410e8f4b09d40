// The webhook of an app of GitHub: where it goes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appHookUrl } from '../../../src/effects/git-connection/hooks.ts'
import type { AuthorizationPorts } from '../../../src/effects/git-connection/ports.ts'
import { standIn } from '../../support/effects/stand-in.ts'

const urlAt = (url: string | null, redirectUri: string) =>
  appHookUrl(standIn<AuthorizationPorts>({ identity: { url } }), 'git-1', redirectUri)

test('the webhook of an app goes to the host of the dashboard, also if the browser has another one', () => {
  const own = 'https://berth.example.com'
  for (const origin of [own, 'http://127.0.0.1:7070', 'https://192.0.2.1', 'https://elsewhere.example.com'])
    assert.equal(
      urlAt(own, `${origin}/git/callback`),
      'https://berth.example.com/api/v1/hooks/github?connection=git-1',
    )
})

test('without such a host, an app has a webhook only if GitHub can reach the server', () => {
  for (const origin of [
    'http://berth.example.com',
    'https://localhost',
    'https://192.0.2.1',
    'https://[::1]',
  ])
    assert.equal(urlAt(null, `${origin}/git/callback`), null, origin)
  const behindProxy = urlAt(null, 'https://berth.example.com/git/callback')
  assert.equal(behindProxy, 'https://berth.example.com/api/v1/hooks/github?connection=git-1')
})
