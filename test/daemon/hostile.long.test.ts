// Every hostile text in every field of the API. Accepted texts are passed to git, the builder and Docker,
// and none is executed.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { recordExecutions } from '../support/daemon/exec-recorder.ts'
import { hostileTexts } from '../support/daemon/hostile.ts'
import { type PlacedCanary, placeCanary } from '../support/daemon/hostile-canary.ts'
import { findChange } from '../support/daemon/round-trip.ts'
import { dockerfile, fetchPage, finishedDeploy } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { createRepository } from '../support/git/repository.ts'
import { checkAnswer, needsSession } from '../support/http/openapi.ts'
import { type Operation, operations } from '../support/http/operations.ts'
import { signUp } from '../support/http/session.ts'
import {
  describeField,
  requestWith,
  type StringField,
  stringFieldsOf,
} from '../support/http/string-fields.ts'
import { exchange, toBytes, type WireAnswer } from '../support/http/wire.ts'
import { whyNoTracing } from '../support/system/strace.ts'

const suite = daemonSuite()
const parallelRequests = 8
const parallelDeploys = 4

/** uWS waits for the rest of a header with a control character, and disconnects after 12 s. */
const unsendable = /(?![\t\u0080-\u009f])\p{Cc}/u

let count = 0

/** Targets of the operations; a deleted service is replaced by a new one. */
async function createTargets(): Promise<Record<string, string>> {
  const { api } = suite
  const source = { repo_url: '/nowhere/at/all', deploy: false }
  const deployed = await api.post('/services', { name: `target-${++count}`, ...source })
  const deploy = await api.post(`/services/${deployed.id}/deploys`)
  const bare = await api.post('/services', { name: `target-${++count}` })
  return { services: bare.id, deploys: deploy.id, registries: 'registry.invalid:5000' }
}

type Pairs = [name: string, value: string][]

/** The credentials of each kind of request: a token, or a browser's session where tokens are not accepted. */
async function createCredentials(): Promise<(operation: Operation) => Pairs> {
  const { api, daemon } = suite
  const port = new URL(api.url).port
  const token = readFileSync(join(daemon.dataDir, 'api_token'), 'utf8').trim()
  const host: Pairs = [['Host', `localhost:${port}`]]
  const session: Pairs = [...host, ...Object.entries(await signUp(api.url, daemon.dataDir))]
  const bearer: Pairs = [...host, ['Authorization', `Bearer ${token}`]]
  return ({ method, path }) => (needsSession(method, path) ? session : bearer)
}

/** Sends the texts in a field; returns the accepted ones and the faults of responses. */
async function tryField(field: StringField, texts: readonly string[], headers: Pairs) {
  const port = Number(new URL(suite.api.url).port)
  const accepted: string[] = []
  const wrongs: string[] = []
  let existing = await createTargets()
  const tryText = async (text: string) => {
    const fields = { name: `app-${++count}`, deploy: false }
    const request = requestWith(field, text, { existing, fields, headers })
    const response = await exchange(port, toBytes(request))
    const isAccepted = response !== null && response.status < 300
    const wrong = findWrong(field, text, response)
    if (wrong) wrongs.push(`${describeField(field)}: ${wrong}`)
    if (isAccepted) accepted.push(text)
    if (isAccepted && request.method === 'DELETE') existing = await createTargets()
  }
  const sendable = field.place === 'header' ? texts.filter((text) => !unsendable.test(text)) : texts
  await inParallel(sendable, parallelRequests, tryText)
  return { accepted, wrongs }
}

function findWrong(field: StringField, text: string, response: WireAnswer | null): string | null {
  if (response === null) return `no answer to ${JSON.stringify(text)}`
  const { status, headers } = response
  const output = `${JSON.stringify(text)} was answered ${status} ${response.text.slice(0, 300)}`
  // A repository that cannot be read is not a fault of the server.
  const isRemote = status === 502 && response.text.includes('"git_remote_unreachable"')
  if (status >= 500 && !isRemote) return output
  // An empty path segment is another path.
  if (field.place === 'path' && text === '') return status === 404 ? null : output
  const isJson = headers.get('content-type')?.includes('json') ?? false
  const body: Body = isJson ? JSON.parse(response.text) : response.text
  const { method, path } = field.operation
  checkAnswer(method, path.replace(/\{\w+\}/g, 'x'), status, body)
  if (status >= 400) return body.code ? null : output
  return field.place === 'body' && isJson ? findChange(field, text, body) : null
}

async function inParallel<T>(
  list: readonly T[],
  width: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const queue = [...list]
  const worker = async () => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) await work(one)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

/** The routes of a common parameter, such as `id`, share the texts: each gets a third. */
function shareOf(field: StringField, fields: readonly StringField[], texts: readonly string[]) {
  if (field.place === 'body') return texts
  const same = fields.filter(({ place, way }) => place === field.place && way[0] === field.way[0])
  const parts = Math.min(3, same.length)
  return texts.filter((_, index) => index % parts === same.indexOf(field) % parts)
}

test('hostile text is rejected or stored byte for byte, in every field of every route', async (t) => {
  const bait = await placeCanary(t)
  const { api, daemon } = suite
  const { pid } = daemon
  const texts = hostileTexts(bait)
  const accepted = new Map<string, number>()
  const wrongs: string[] = []

  const credentials = await createCredentials()
  const fields = operations.flatMap(stringFieldsOf)
  for (const field of fields) {
    const outcome = await tryField(field, shareOf(field, fields, texts), credentials(field.operation))
    accepted.set(describeField(field), outcome.accepted.length)
    wrongs.push(...outcome.wrongs)
  }

  assert.deepEqual(wrongs, [])
  assert.deepEqual(bait.evidence(), [])
  assert.deepEqual([daemon.pid, (await api.call('GET', '/services')).status], [pid, 200])
  assert.deepEqual(
    daemon.log.filter((line) => !line.includes('"level":"info"')),
    [],
  )
  // Ensures that a server that refuses everything does not pass.
  assert.ok(accepted.get('POST /api/v1/services body start_command')! > texts.length - 10)
  assert.ok(accepted.get('POST /api/v1/auth/tokens body name')! > texts.length / 2)
  t.diagnostic(`${accepted.size} fields, ${texts.length} texts`)
})

/** Deploys a service for each accepted text of this field, and waits for the end. */
async function deployEach(bait: PlacedCanary, field: 'repo_url' | 'branch', source: object): Promise<Body[]> {
  const { api } = suite
  const deploys: Body[] = []
  const active = hostileTexts(bait).filter((text) => /["'$;&|`]|^-|::/.test(text))
  await inParallel(active, parallelDeploys, async (text) => {
    const name = `app-${++count}`
    const response = await api.call('POST', '/services', { name, ...source, [field]: text })
    const first = response.status === 201 ? response.body.latest_deploy : null
    if (first) deploys.push(await finishedDeploy(api, first.id))
  })
  return deploys
}

test('a hostile repository or branch reaches git as one argument, and never a shell', async (t) => {
  const bait = await placeCanary(t)
  const repository = createRepository(t)
  repository.commit('First', { Dockerfile: await dockerfile() })
  const problem = await whyNoTracing()
  if (problem) return t.skip(problem)
  const recorder = await recordExecutions(t, suite.daemon.pid)

  const addresses = await deployEach(bait, 'repo_url', {})
  const branches = await deployEach(bait, 'branch', { repo_url: repository.directory })

  const started = await recorder.stop()
  assert.deepEqual(bait.evidence(), [])
  for (const { status, phase, error } of [...addresses, ...branches]) {
    assert.deepEqual([status, phase], ['failed', 'fetching'], error)
  }
  assert.ok(addresses.length > 1 && branches.length > 15, `${addresses.length}, ${branches.length}`)
  const shells = started.filter(({ program }) => /^(ba|da)?sh$/.test(program))
  assert.deepEqual(
    shells.filter(({ written }) => written.includes(bait.directory)),
    [],
  )
  assert.ok(shells.length > 0, 'the shell that git itself starts at a path is seen')
  const withBait = started.filter(({ written }) => written.includes(bait.directory))
  assert.ok(withBait.length > 5, 'git got the texts')
  assert.deepEqual([...new Set(withBait.map(({ program }) => program))].sort(), ['git', 'git-remote-http'])
})

/** Settings that could do harm in a shell, a repository that has them, and the output of its page. */
async function createHostileSource(t: TestContext, { directory }: PlacedCanary) {
  const settings = {
    branch: `main;$(touch\${IFS}${directory}/branch)'"`,
    root_dir: `it's "$(touch\${IFS}${directory}/root)"; & | \`id\` * -rf`,
    dockerfile_path: '--file=$(id) "\';&|',
    health_check_path: `/$(touch\${IFS}x);'"&|\`<>*über日`,
    disk_mount_path: `/data $(touch ${directory}/disk)'"&`,
    pre_deploy_command: `mkdir -p ${directory} && touch ${directory}/prepared`,
    start_command: [
      `mkdir -p /www ${directory}; touch ${directory}/command; ls ${directory} > /www/made`,
      'cat /proc/self/environ > /www/env; exec httpd -f -p $PORT -h /www',
    ].join('; '),
  }
  const repository = createRepository(t)
  repository.commit('First', {
    [`${settings.root_dir}/${settings.dockerfile_path}`]: await dockerfile('COPY . /'),
    [`${settings.root_dir}/www${settings.health_check_path}`]: 'ok',
  })
  repository.git('checkout', '--quiet', '-b', settings.branch)
  repository.commit('Second', {})
  return { repo_url: repository.directory, ...settings }
}

test('hostile settings and values go live unchanged, and none of them runs on the host', async (t) => {
  const bait = await placeCanary(t)
  const { api } = suite
  const source = await createHostileSource(t, bait)
  const texts = hostileTexts(bait).filter((text) => !text.includes('\0') && !/\p{Surrogate}/u.test(text))
  // Braces would be env references, but these texts must stay as they are.
  const env = texts.map((text, index) => ({
    key: `TEXT_${index}`,
    value: text.replaceAll('${{', () => '$${{'),
  }))

  const { name, first } = await createService(t, api, {}, { ...source, env })

  assert.equal(first.status, 'live', first.error)
  const page = await fetchPage(api, name, '/env')
  const inside = page.split('\0')
  for (const [index, text] of texts.entries()) assert.ok(inside.includes(`TEXT_${index}=${text}`), text)
  assert.ok(inside.includes(`BERTH_GIT_BRANCH=${source.branch}`))
  assert.equal(await fetchPage(api, name, '/made'), 'command\n', 'it ran inside')
  assert.deepEqual(bait.evidence(), [], 'and nowhere else')
})
