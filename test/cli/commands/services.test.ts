// Services from the command line, on a real server: what is said, what is asked, and what then holds.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, type TestContext, test } from 'node:test'
import type { Ended } from '../../support/cli/berth.ts'
import { runBerth } from '../../support/cli/berth.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { until } from '../../support/daemon/service.ts'
import { createService, daemonSuite } from '../../support/daemon/suite.ts'
import { baseImages } from '../../support/docker/images.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const suite = daemonSuite()
before(baseImages)

function berth(t: TestContext, ...args: string[]): Promise<Ended> {
  return runBerth(t, args, { daemon: suite.daemon })
}

let count = 0

/** A service that takes uploads and has none: enough for what changes settings only. */
async function emptyService(): Promise<string> {
  const name = `empty-${++count}`
  await suite.api.post('/services', { name, type: 'web_service' })
  return name
}

describe('services without a deploy', { concurrency: 4 }, () => {
  test('create applies its flags, and the list shows the service', async (t) => {
    const flags = ['--port', '8080', '--health-path', '/healthz', '--memory', '64', '--cpu', '0.5']
    const more = ['--build-env', 'A', '--build-env', 'B', '--env', 'A=1']
    const build = ['--build-target', 'prod', '--build-arg', 'A=1', '--build-arg', 'B=x=y', '--init', 'off']
    const created = await berth(t, 'create', 'flags', ...flags, ...more, ...build, '--json')

    assert.equal(created.code, 0, created.stderr)
    const service = JSON.parse(created.stdout)
    assert.deepEqual([service.name, service.port, service.health_check_path], ['flags', 8080, '/healthz'])
    assert.deepEqual([service.memory_limit_mb, service.cpu_limit, service.build_env], [64, 0.5, ['A', 'B']])
    assert.deepEqual([service.build_target, service.build_args], ['prod', { A: '1', B: 'x=y' }])
    assert.equal(service.init, false)
    assert.deepEqual(await suite.api.get('/services/flags/env'), [{ key: 'A', value: '1' }])
    const { stdout } = await berth(t, 'services')
    assert.match(stdout, /^flags +not deployed +web service +flags:8080 +uploads +never$/m)
  })

  test('create prints the next step, and without a terminal does not prompt', async (t) => {
    const named = await berth(t, 'create', 'plain')
    const nameless = await berth(t, 'create')

    assert.equal(named.stderr, ' ✔ plain was created\n   next: berth up plain\n')
    assert.equal(nameless.code, 2)
    assert.match(nameless.stderr, /berth create NAME/)
  })

  test('create prompts at a terminal for what is missing', async (t) => {
    const terminal = openFakeTerminal(t, ['create', '--no-deploy'], { daemon: suite.daemon })
    await terminal.shows('What is the service called?')
    terminal.type('asked\r')
    await terminal.shows('Where does the source come from?')
    terminal.type('\u001b[B\u001b[B\r')
    await terminal.shows('Which image?')
    terminal.type('ghcr.io/ada/web:v1\r')

    assert.equal(await terminal.ended(), 0)
    assert.equal((await suite.api.get('/services/asked')).image, 'ghcr.io/ada/web:v1')
  })

  test('show omits unset settings; update changes what is specified', async (t) => {
    const name = await emptyService()
    const updated = await berth(t, 'update', name, '--start-command', 'serve', '--drain', '5')
    await berth(t, 'update', name, '--shared-network', 'on')
    const nothing = await berth(t, 'update', name)
    const view = await berth(t, 'show', name)

    assert.equal(updated.stderr, ` ✔ ${name}: start command, drain saved\n`)
    assert.equal(nothing.code, 2)
    assert.match(view.stdout, /^start command +serve$/m)
    assert.match(view.stdout, /^shared network +on: every service may connect$/m)
    assert.doesNotMatch(view.stdout, /disk|dockerfile/)
  })

  test('delete requires the name typed at a terminal, and --yes elsewhere', async (t) => {
    const name = await emptyService()
    const silent = await berth(t, 'delete', name)
    const wrong = openFakeTerminal(t, ['delete', name], { daemon: suite.daemon })
    await wrong.shows('Type its name:')
    wrong.type('something\r')
    assert.deepEqual([silent.code, await wrong.ended()], [2, 1])
    assert.equal((await suite.api.get(`/services/${name}`)).name, name)

    const right = openFakeTerminal(t, ['delete', name], { daemon: suite.daemon })
    await right.shows('Type its name:')
    right.type(`${name}\r`)

    assert.equal(await right.ended(), 0)
    await until(
      'the end of it',
      async () => (await suite.api.call('GET', `/services/${name}`)).status === 404,
    )
  })

  test('delete never takes the name from the project file', async (t) => {
    const name = await emptyService()
    const cwd = temporaryDirectory(t)
    writeFileSync(join(cwd, 'berth.json'), JSON.stringify({ service: name }))
    const options = { daemon: suite.daemon, cwd }

    assert.equal((await runBerth(t, ['show'], options)).code, 0)
    assert.equal((await runBerth(t, ['delete', '--yes'], options)).code, 2)
    assert.equal((await suite.api.get(`/services/${name}`)).name, name)
  })

  test('registries reads the password from a pipe or a hidden prompt, and never shows it', async (t) => {
    const args = ['registries', 'add', 'ghcr.io', '-u', 'ada', '--no-verify']
    const piped = await runBerth(t, args, { daemon: suite.daemon, input: 'pass-1\n' })
    const hidden = ['registries', 'add', 'quay.io', '-u', 'bob', '--no-verify']
    const terminal = openFakeTerminal(t, hidden, { daemon: suite.daemon })
    await terminal.shows('Password of bob at quay.io:')
    terminal.type('pass-2\r')
    assert.deepEqual([piped.code, await terminal.ended()], [0, 0])
    const list = await berth(t, 'registries', 'ls')
    const removed = await berth(t, 'registries', 'rm', 'quay.io')

    assert.match(list.stdout, /^ghcr\.io +ada/m)
    assert.match(list.stdout, /^quay\.io +bob/m)
    assert.equal(removed.code, 0)
    assert.ok(!`${piped.stderr}${terminal.written}${list.stdout}`.includes('pass-'))
  })

  test('api sends any request, with fields, JSON fields and bodies from a pipe', async (t) => {
    const name = await emptyService()
    const patched = await berth(
      t,
      'api',
      'patch',
      `services/${name}`,
      '-F',
      'drain_seconds=7',
      '-f',
      'branch=dev',
    )
    const list = await berth(t, 'api', 'GET', `/api/v1/services/${name}/deploys`, '-f', 'limit=3')
    const input = JSON.stringify({ instances: 2 })
    const scaled = await runBerth(t, ['api', 'POST', `/services/${name}/scale`, '--input', '-'], {
      daemon: suite.daemon,
      input,
    })
    const refused = await berth(t, 'api', 'GET', '/nothing')

    const { drain_seconds, branch } = JSON.parse(patched.stdout)
    assert.deepEqual({ drain_seconds, branch }, { drain_seconds: 7, branch: 'dev' })
    assert.equal(list.stdout, '[]')
    assert.equal(JSON.parse(scaled.stdout).instances, 2)
    assert.equal(refused.code, 3)
  })

  test('completion knows commands, flags and services', async (t) => {
    const name = await emptyService()
    const complete = async (...words: string[]) =>
      (await berth(t, 'complete', '--', ...words)).stdout.split('\n').filter(Boolean)

    assert.deepEqual(await complete('env', 'un'), ['unset'])
    assert.deepEqual(await complete('rollback', '--no-f'), ['--no-follow'])
    assert.ok((await complete('status', '')).includes(name))
  })

  test('whoami and info show the server, its version and the expiry of the token', async (t) => {
    const who = await berth(t, 'whoami', '--json')
    const info = await berth(t, 'info')

    const { url, token_hint, version } = JSON.parse(who.stdout)
    assert.equal(url, suite.api.url)
    assert.equal(token_hint.length, 4)
    assert.match(info.stdout, new RegExp(`^version +${version}$`, 'm'))
    assert.match(info.stdout, /^docker +\d/m)
  })
})

test('restart, status and rollback follow the deploy, and the picker lists earlier ones', async (t) => {
  const { name, first, deploy } = await createService(t, suite.api, null)
  const second = await deploy({ 'www/index.html': 'two' })
  assert.deepEqual([first.status, second.status], ['live', 'live'])

  await until('the previous one to be gone', async () => {
    return (await suite.api.get(`/services/${name}/status`)).instances.length === 1
  })

  const status = await berth(t, 'status', name)
  assert.match(status.stdout, new RegExp(`^${name} is live\n\nDEPLOY.*\n${second.id} +live +running `))

  const restarted = await berth(t, 'restart', name)
  assert.equal(restarted.code, 0, restarted.stderr)

  const silent = await berth(t, 'rollback', name)
  assert.equal(silent.code, 2)
  assert.ok(silent.stderr.includes(second.id), silent.stderr)

  const terminal = openFakeTerminal(t, ['rollback', name], { daemon: suite.daemon })
  await terminal.shows('Which deploy should run again?')
  terminal.type('\u001b[B\r')
  assert.equal(await terminal.ended(), 0)
  assert.match(terminal.screen().join('\n'), /✔ live .*\n(.*\n)* *undo: berth rollback/)
  const { latest_deploy } = await suite.api.get(`/services/${name}`)
  assert.deepEqual([latest_deploy.trigger, latest_deploy.source.deploy_id], ['rollback', first.id])

  const watch = openFakeTerminal(t, ['status', name, '--watch'], { daemon: suite.daemon })
  await watch.shows(`${name} is live`)
  await suite.api.post(`/services/${name}/suspend`)
  await watch.shows(`${name} is suspended`)
  watch.type('\u0003')
  assert.equal(await watch.ended(), 130)
  assert.match(watch.screen().join('\n'), new RegExp(`^${name} is suspended`, 'm'))
})
