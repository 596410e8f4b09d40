import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credentialsFor, toRegistryConfig } from '../../../src/docker/images/registry-credentials.ts'

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
