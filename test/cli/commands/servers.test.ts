// Which server is asked, with which token, and where both are kept.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { runBerth } from '../../support/cli/berth.ts'
import { type FakeServer, someInfo, startFakeServer } from '../../support/cli/fake-server.ts'
import { spawnBerth } from '../../support/cli/spawned.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

async function listServer(t: TestContext): Promise<FakeServer> {
  return startFakeServer(t, ({ path }) => ({ body: path.endsWith('/info') ? someInfo : [] }))
}

/** The tokens it was asked with, the newest last. */
function tokensOf(server: FakeServer): (string | undefined)[] {
  return server.requests.map(({ headers }) => headers.authorization?.replace('Bearer ', ''))
}

interface Home {
  env: Record<string, string>
  path: string
  write(config: object): void
  read(): { default?: string; servers: Record<string, { url: string; token: string }> }
}

function homeOf(t: TestContext): Home {
  const XDG_CONFIG_HOME = temporaryDirectory(t)
  const path = join(XDG_CONFIG_HOME, 'berth/config.json')
  return {
    env: { XDG_CONFIG_HOME },
    path,
    write(config) {
      mkdirSync(join(XDG_CONFIG_HOME, 'berth'), { recursive: true })
      writeFileSync(path, JSON.stringify(config))
    },
    read: () => JSON.parse(readFileSync(path, 'utf8')),
  }
}

describe('the choice of a server', { concurrency: 4 }, () => {
  test('a flag wins over the environment, the project and the default, in this order', async (t) => {
    const [one, two, three, four] = await Promise.all([1, 2, 3, 4].map(() => listServer(t)))
    const servers = {
      one: { url: one!.url, token: 'token-1' },
      two: { url: two!.url, token: 'token-2' },
      three: { url: three!.url, token: 'token-3' },
      four: { url: four!.url, token: 'token-4' },
    }
    const { env, write } = homeOf(t)
    write({ default: 'four', servers })
    const project = temporaryDirectory(t)
    mkdirSync(join(project, 'deep'))
    writeFileSync(join(project, 'berth.json'), '{"server":"three"}')
    const cwd = join(project, 'deep')
    const variable = { ...env, BERTH_SERVER: two!.url }

    const runs = [
      await runBerth(t, ['services', '--server', 'one'], { cwd, env: variable }),
      await runBerth(t, ['services'], { cwd, env: variable }),
      await runBerth(t, ['services'], { cwd, env }),
      await runBerth(t, ['services'], { env }),
    ]

    assert.deepEqual(
      runs.map(({ code }) => code),
      [0, 0, 0, 0],
    )
    assert.deepEqual(
      [one, two, three, four].map((server) => tokensOf(server!)),
      [['token-1'], ['token-2'], ['token-3'], ['token-4']],
    )
  })

  test('a token flag wins over a token file, the environment and the config', async (t) => {
    const server = await listServer(t)
    const { env, write } = homeOf(t)
    write({ default: 'one', servers: { one: { url: server.url, token: 'of-config' } } })
    const file = join(temporaryDirectory(t), 'token')
    writeFileSync(file, 'of-file\n')
    const variable = { ...env, BERTH_TOKEN: 'of-variable' }

    await runBerth(t, ['services', '--token', 'of-flag', '--token-file', file], { env: variable })
    await runBerth(t, ['services', '--token-file', file], { env: variable })
    const input = { env: variable, input: 'of-stdin\n' }
    await spawnBerth(t, ['services', '--token-file', '-'], input).ended()
    await runBerth(t, ['services'], { env: variable })
    await runBerth(t, ['services'], { env })

    assert.deepEqual(tokensOf(server), ['of-flag', 'of-file', 'of-stdin', 'of-variable', 'of-config'])
  })

  test('a project file cannot send a token to a server that the user does not know', async (t) => {
    const server = await listServer(t)
    const cwd = temporaryDirectory(t)
    writeFileSync(join(cwd, 'berth.json'), JSON.stringify({ server: server.url }))

    const ended = await runBerth(t, ['services'], { cwd, env: { BERTH_TOKEN: 'secret' } })

    assert.equal(ended.code, 2)
    assert.match(ended.stderr, /which is not one of yours\n.*berth login/)
    assert.deepEqual(server.requests, [])
  })

  test('a redirect is reported and not followed, so the token stays with its server', async (t) => {
    const target = await listServer(t)
    const server = await startFakeServer(t, () => ({ status: 302, headers: { location: `${target.url}/x` } }))

    const ended = await runBerth(t, ['services'], {
      env: { BERTH_SERVER: server.url, BERTH_TOKEN: 'secret' },
    })

    assert.equal(ended.code, 1)
    assert.ok(ended.stderr.includes(`berth login ${target.url}`), ended.stderr)
    assert.deepEqual(target.requests, [])
  })

  test('several servers are stored by name, in a file that only the owner can read', async (t) => {
    const [one, two] = await Promise.all([listServer(t), listServer(t)])
    const { env, path, read } = homeOf(t)
    const logIn = (url: string, name: string) =>
      runBerth(t, ['login', url, '--server', name], { env: { ...env, BERTH_TOKEN: `token-${name}` } })

    assert.equal((await logIn(one!.url, 'home')).code, 0)
    assert.equal((await logIn(`${two!.url}/`, 'work')).code, 0)
    const list = await runBerth(t, ['servers', '--json'], { env })
    const used = await runBerth(t, ['servers', 'use', 'work'], { env })
    const out = await runBerth(t, ['logout', 'home'], { env })

    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(join(path, '..')), ['config.json'])
    assert.deepEqual(JSON.parse(list.stdout), [
      { name: 'home', url: one!.url, is_default: true, token_hint: 'home' },
      { name: 'work', url: two!.url, is_default: false, token_hint: 'work' },
    ])
    assert.equal(used.code, 0)
    assert.ok(out.stderr.includes(`${one!.url}/account`), out.stderr)
    assert.deepEqual(read(), { default: 'work', servers: { work: { url: two!.url, token: 'token-work' } } })
  })

  test('an unknown name, a damaged config and a token with a space are reported', async (t) => {
    const { env, write, path } = homeOf(t)
    const unknown = await runBerth(t, ['services', '--server', 'nowhere'], { env })
    const unusual = await runBerth(t, ['services'], { env: { BERTH_TOKEN: 'two\nwords' } })
    write({ servers: { one: {} } })
    const damaged = await runBerth(t, ['services'], { env })

    assert.equal(unknown.code, 2)
    assert.match(unknown.stderr, /no server is called 'nowhere'\n.*berth login URL --server NAME/)
    assert.equal(unusual.code, 2)
    assert.ok(!unusual.stderr.includes('words'), unusual.stderr)
    assert.equal(damaged.code, 1)
    assert.ok(damaged.stderr.includes(path), damaged.stderr)
  })
})
