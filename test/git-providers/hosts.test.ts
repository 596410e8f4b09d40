// Where the API of an instance is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providers } from '../../src/git-providers/providers.ts'

test('the API of GitHub is on a host of its own, and that of an Enterprise Server below its address', () => {
  for (const [baseUrl, apiUrl] of [
    ['https://github.com', 'https://api.github.com'],
    ['https://octo.ghe.com', 'https://api.octo.ghe.com'],
    ['https://github.example.com', 'https://github.example.com/api/v3'],
    ['https://notghe.com', 'https://notghe.com/api/v3'],
  ])
    assert.equal(providers.github.apiUrl(baseUrl!), apiUrl)
})
