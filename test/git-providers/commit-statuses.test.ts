// Statuses of commits at each provider, as their documentation describes them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProviderName } from '../../src/git-providers/base-url.ts'
import { type CommitStatus, sendCommitStatus } from '../../src/git-providers/commit-statuses.ts'
import { ProviderRejection } from '../../src/git-providers/request.ts'
import { createGitProvider, type FakeProvider } from '../support/git/git-provider.ts'
import { testHostRules } from '../support/git/git-server.ts'

const sha = 'a1'.repeat(20)
const status: CommitStatus = {
  repository: 'ada/shop',
  sha,
  state: 'pending',
  label: 'berth/shop',
  description: 'Queued',
  url: 'https://berth.example.com/services/shop/deploys/dep-1',
}
const scopes = ['repo', 'api', 'write:repository']
const states = ['pending', 'success', 'failure', 'canceled'] as const
const words: Record<ProviderName, string[]> = {
  github: ['pending', 'success', 'failure', 'error'],
  gitlab: ['pending', 'success', 'failed', 'canceled'],
  gitea: ['pending', 'success', 'failure', 'warning'],
}

const instanceOf = (provider: ProviderName, { url }: FakeProvider) => ({
  provider,
  baseUrl: url,
  hostRules: testHostRules,
})

for (const provider of ['github', 'gitlab', 'gitea'] as const) {
  test(`${provider} shows each state of a deploy, and again after a repetition`, async (t) => {
    const fake = await createGitProvider(t)
    const token = fake.createToken('ada', { scopes })
    const send = (changes: Partial<CommitStatus>) =>
      sendCommitStatus(instanceOf(provider, fake), token, { ...status, ...changes }, t.signal)
    await send({})
    await send({})
    for (const state of states.slice(1)) await send({ state })
    const shown = fake.state.statuses.map(({ state }) => state)
    assert.deepEqual([...new Set(shown)], words[provider])
    const { createdAt: _, ...first } = fake.state.statuses[0]!
    assert.deepEqual(first, {
      id: 1,
      repository: 'ada/shop',
      sha,
      state: 'pending',
      context: 'berth/shop',
      description: 'Queued',
      targetUrl: status.url,
    })
  })

  test(`${provider} refuses a commit that it does not have, and a token without the right`, async (t) => {
    const fake = await createGitProvider(t)
    fake.state.hasCommit = () => false
    const instance = instanceOf(provider, fake)
    const unknown = sendCommitStatus(instance, fake.createToken('ada', { scopes }), status, t.signal)
    await assert.rejects(unknown, ProviderRejection)
    const weak = fake.createToken('ada', { scopes: ['read_api', 'read:repository', 'public_repo'] })
    const refused = sendCommitStatus(instance, weak, status, t.signal)
    await assert.rejects(refused, (error) => error instanceof ProviderRejection && error.status > 401)
    assert.deepEqual(fake.state.statuses, [])
  })
}

test('a description is one line of at most 140 characters, without half a character', async (t) => {
  const fake = await createGitProvider(t)
  const token = fake.createToken('ada', { scopes })
  const description = `${'a'.repeat(130)}\n\u0007${'😀'.repeat(20)}`
  await sendCommitStatus(instanceOf('github', fake), token, { ...status, description, url: null }, t.signal)
  const [sent] = fake.state.statuses
  assert.equal(sent!.description, `${'a'.repeat(130)} ${'😀'.repeat(4)}…`)
  assert.equal(sent!.targetUrl, '')
})
