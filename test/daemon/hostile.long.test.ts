// Hostile texts that the API accepts are passed to git, the builder and Docker, and none is executed.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { recordExecutions } from '../support/daemon/exec-recorder.ts'
import { type HostileCanary, hostileTexts } from '../support/daemon/hostile.ts'
import { dockerfile, fetchPage, finishedDeploy } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { whyNoTracing } from '../support/system/strace.ts'

const suite = daemonSuite()
const parallelDeploys = 4

let count = 0

/** Text that was executed would create a file in its folder or connect to its port. */
interface PlacedCanary extends HostileCanary {
  /** Names of created files, and connections. Empty when no text was executed. */
  evidence(): string[]
}

async function placeCanary(t: TestContext): Promise<PlacedCanary> {
  const directory = temporaryDirectory(t)
  const connections: string[] = []
  const server = createServer((socket) => {
    connections.push('a connection')
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { directory, port, evidence: () => [...readdirSync(directory), ...connections] }
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
