// Deliveries of git providers: their signatures over the raw body, and the push that they report.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { type HookRequest, isSigned, readEvent } from '../../src/git-providers/hooks.ts'

const secret = 'bthk_secret'
const hex = (body: Buffer, key = secret) => createHmac('sha256', key).update(body).digest('hex')
const request = (headers: Record<string, string>, body: Buffer): HookRequest => ({
  headers: new Map(Object.entries(headers)),
  body,
})

const push = {
  ref: 'refs/heads/main',
  before: '0'.repeat(40),
  after: 'a'.repeat(40),
  repository: { clone_url: 'https://github.com/ada/shop.git', ssh_url: 'git@github.com:ada/shop.git', id: 1 },
  commits: [],
}
const body = Buffer.from(JSON.stringify(push))

test('GitHub and Gitea sign the raw body', () => {
  const github = (signature: string, sent = body) =>
    isSigned('github', request({ 'x-hub-signature-256': signature }, sent), secret)
  assert.equal(github(`sha256=${hex(body)}`), true)
  const altered = Buffer.from(body.toString().replace('main', 'next'))
  const wrong = [
    `sha256=${hex(body, 'other')}`,
    `sha256=${hex(body).toUpperCase()}`,
    `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
    hex(body),
    'sha256=',
    '',
  ]
  for (const signature of wrong) assert.equal(github(signature), false, signature)
  assert.equal(github(`sha256=${hex(body)}`, altered), false)
  assert.equal(isSigned('github', request({ 'x-hub-signature': 'sha1=1' }, body), secret), false)
  const gitea = (headers: Record<string, string>) => isSigned('gitea', request(headers, body), secret)
  assert.equal(gitea({ 'x-gitea-signature': hex(body) }), true)
  assert.equal(gitea({ 'x-forgejo-signature': hex(body) }), true)
  const mixed = { 'x-forgejo-signature': hex(body, 'other'), 'x-gitea-signature': hex(body) }
  assert.equal(gitea(mixed), false)
  assert.equal(gitea({}), false)
})

test('GitLab sends its token, or a signature that then counts alone', () => {
  const gitlab = (headers: Record<string, string>, key = secret) =>
    isSigned('gitlab', request(headers, body), key)
  assert.equal(gitlab({ 'x-gitlab-token': secret }), true)
  assert.equal(gitlab({ 'x-gitlab-token': 'other' }), false)
  assert.equal(gitlab({}), false)
  const content = Buffer.concat([Buffer.from('id-1.1700000000.'), body])
  const signature = (key: string | Buffer) => createHmac('sha256', key).update(content).digest('base64')
  const signed = { 'webhook-id': 'id-1', 'webhook-timestamp': '1700000000' }
  assert.equal(gitlab({ ...signed, 'webhook-signature': `v1,xx v1,${signature(secret)}` }), true)
  const sixth = `${'v1,xx '.repeat(5)}v1,${signature(secret)}`
  assert.equal(gitlab({ ...signed, 'webhook-signature': sixth }), false)
  const key = Buffer.from('a key of some length')
  const standard = `whsec_${key.toString('base64')}`
  assert.equal(gitlab({ ...signed, 'webhook-signature': `v1,${signature(key)}` }, standard), true)
  const forged = { ...signed, 'webhook-signature': 'v1,xx', 'x-gitlab-token': secret }
  assert.equal(gitlab(forged), false)
})

test('a push names its branch and its repository, also in a form', () => {
  const event = { 'x-github-event': 'push', 'x-github-delivery': 'd-1' }
  const form = Buffer.from(new URLSearchParams({ payload: JSON.stringify(push) }).toString())
  const wanted = {
    deliveryId: 'd-1',
    event: 'push',
    push: {
      isForced: null,
      ref: 'refs/heads/main',
      before: push.before,
      after: push.after,
      repositories: ['https://github.com/ada/shop.git', 'git@github.com:ada/shop.git'],
      repositoryId: '1',
    },
    checked: [],
  }
  assert.deepEqual(readEvent('github', request(event, body)), wanted)
  const asForm = { ...event, 'content-type': 'application/x-www-form-urlencoded' }
  assert.deepEqual(readEvent('github', request(asForm, form)), wanted)
  const forced = Buffer.from(JSON.stringify({ ...push, forced: true }))
  assert.equal(readEvent('github', request(event, forced))?.push?.isForced, true)
  const project = {
    id: 7,
    git_http_url: 'https://gitlab.com/ada/shop.git',
    web_url: 'https://gitlab.com/ada/shop',
  }
  const { repository: _, ...rest } = push
  const sent = Buffer.from(JSON.stringify({ ...rest, project, repository: { homepage: 'x' } }))
  const gitlab = readEvent('gitlab', request({ 'x-gitlab-event': 'Push Hook', 'idempotency-key': 'i' }, sent))
  const { id: repositoryId, ...addresses } = project
  assert.deepEqual(gitlab?.push?.repositories, Object.values(addresses))
  assert.equal(gitlab?.push?.repositoryId, String(repositoryId))
  const tagged = request({ 'x-gitlab-event': 'Tag Push Hook' }, sent)
  assert.equal(readEvent('gitlab', tagged)?.push?.ref, 'refs/heads/main')
  assert.equal(gitlab?.deliveryId, 'i')
})

test('events about checks name their repository', () => {
  const { repository } = push
  const project = { git_http_url: 'https://gitlab.com/ada/shop.git' }
  const sent = Buffer.from(JSON.stringify({ repository, sha: push.after }))
  for (const event of ['status', 'check_suite']) {
    const found = readEvent('github', request({ 'x-github-event': event }, sent))
    assert.deepEqual(found?.checked, [repository.clone_url, repository.ssh_url])
    assert.equal(found?.push, null)
  }
  const pipeline = Buffer.from(JSON.stringify({ project, object_kind: 'pipeline' }))
  const found = readEvent('gitlab', request({ 'x-gitlab-event': 'Pipeline Hook' }, pipeline))
  assert.deepEqual(found?.checked, [project.git_http_url])
  assert.equal(readEvent('gitea', request({ 'x-gitea-event': 'status' }, Buffer.from('[]'))), null)
})

test('other events have no push, and other bodies are no event', () => {
  const ping = readEvent('github', request({ 'x-github-event': 'ping' }, Buffer.from('{')))
  assert.deepEqual(ping, { deliveryId: null, event: 'ping', push: null, checked: [] })
  assert.equal(readEvent('github', request({}, body)), null)
  const event = { 'x-gitea-event': 'push' }
  for (const text of ['', '{', '[]', 'null', '{"ref":1}', `{"ref":"${'x'.repeat(2000)}"}`])
    assert.equal(readEvent('gitea', request(event, Buffer.from(text))), null, text.slice(0, 20))
})
