// Credentials are tried on a real registry by a real engine, before anything is stored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openEngine } from '../../../src/docker/engine/client.ts'
import { credentialsFor, toRegistryConfig } from '../../../src/docker/images/registry-credentials.ts'
import { checkLogin } from '../../../src/docker/images/registry-login.ts'
import { openDockerSite } from '../../support/docker/docker-site.ts'
import { account, startRegistry } from '../../support/docker/registry.ts'

test('the right password is accepted, a wrong one is refused, and neither is repeated', async (t) => {
  const { engine } = await openDockerSite(t)
  const { host, stop } = await startRegistry(t, { isPrivate: true })
  const password = 'canary-wrong'

  await checkLogin(engine, { host, ...account })
  await assert.rejects(checkLogin(engine, { host, ...account, password }), {
    code: 'invalid_request',
    message: `${host} refuses the username or the password`,
    hint: 'berth registries add --no-verify stores them unchecked',
  })
  await stop()
  await assert.rejects(checkLogin(engine, { host, ...account, password }), (error: Error) => {
    assert.match(error.message, new RegExp(`^${host} cannot be reached: `))
    assert.ok(!error.message.includes(password))
    return (error as { code?: string }).code === 'docker_error'
  })
})

test('link-local and metadata addresses get no request', async () => {
  const nowhere = openEngine('unix:///nowhere.sock')
  for (const host of ['169.254.169.254', '169.254.169.254:80', '100.100.100.200:443', '0.0.0.0:5000']) {
    await assert.rejects(checkLogin(nowhere, { host, ...account }), {
      code: 'invalid_request',
      message: `${host} resolves to a link-local or metadata address`,
    })
  }
})

const hub = { host: 'docker.io', username: 'ada', password: 'one' }
const own = { host: 'registry.example.com:5000', username: 'bob', password: 'þ??>>ÿ~~' }

test('BuildKit gets the credentials of the registry that it names, and no others', () => {
  assert.equal(credentialsFor([hub, own], 'registry.example.com:5000'), own)
  assert.equal(credentialsFor([hub, own], 'registry-1.docker.io'), hub)
  assert.equal(credentialsFor([hub, own], 'registry.example.com'), null)
  assert.equal(credentialsFor([], 'docker.io'), null)
})

test('a classic build gets all of them in a header, in the format of the engine', () => {
  const header = toRegistryConfig([hub, own])

  assert.match(header, /^[\w-]+=*$/)
  assert.match(header, /[-_]/)
  assert.equal(header.length % 4, 0)
  assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), {
    'https://index.docker.io/v1/': {
      username: 'ada',
      password: 'one',
      serveraddress: 'https://index.docker.io/v1/',
    },
    'registry.example.com:5000': {
      username: 'bob',
      password: 'þ??>>ÿ~~',
      serveraddress: 'registry.example.com:5000',
    },
  })
})
