// Repositories that are read with a deploy key, from a real sshd.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { HostKey } from '../../src/git/ssh.ts'
import { createSshKey, fingerprintOf } from '../../src/git/ssh-key.ts'
import { readTree, startCheckout } from '../support/git/checkout.ts'
import { gitProcesses, untilGitProcesses } from '../support/git/git-processes.ts'
import { createRepository } from '../support/git/repository.ts'
import { createSshServer } from '../support/git/ssh-server.ts'
import { run } from '../support/system/command.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const command = 'berth deploy-key shop'

async function openSite(t: TestContext) {
  const server = await createSshServer(t)
  const repository = createRepository(t)
  repository.commit('First', { file: 'one' })
  const key = createSshKey('berth-shop')
  server.allow(key.publicKey)
  const directory = join(temporaryDirectory(t), 'with blank %h $(x) ~')
  let pinned: HostKey[] = []
  const ssh = {
    command,
    key: {
      privateKey: key.privateKey,
      directory,
      pinned: () => pinned,
      pin: async (found: HostKey[]) => void pinned.push(...found),
    },
  }
  const url = server.url(repository.directory)
  const checkOut = (changes: object = {}) => startCheckout(t, { url, ssh, ...changes })
  const forget = () => (pinned = [])
  return { server, repository, url, directory, checkOut, pins: () => pinned, forget }
}

test('a repository is read with the deploy key, which leaves no file', async (t) => {
  const { server, checkOut, directory, pins } = await openSite(t)

  const checkout = checkOut()
  await checkout.done

  assert.deepEqual(readTree(checkout.directory), { file: 'one' })
  assert.deepEqual(readdirSync(directory), [])
  assert.deepEqual(
    pins().map(({ host, type }) => [host, type]),
    [[server.host, 'ssh-ed25519']],
  )
})

test('the key is on disk only while git runs, for its owner only', async (t) => {
  const { server, checkOut, directory } = await openSite(t)
  const release = server.hold()
  const checkout = checkOut({ marker: 'dep-held' })
  await untilGitProcesses('dep-held', () => server.isHeld())

  const [folder = ''] = readdirSync(directory)
  const modes = ['', 'key', 'known_hosts'].map((name) => statSync(join(directory, folder, name)).mode & 0o777)
  const commands = gitProcesses('dep-held').join('\n')
  release()
  await checkout.done

  assert.deepEqual(modes, [0o700, 0o600, 0o600])
  assert.match(commands, /^ssh -F \/dev\/null .*-i key -o IdentitiesOnly=yes -o IdentityAgent=none /m)
  assert.equal(existsSync(join(directory, folder)), false)
})

test('an aborted checkout leaves no key file and no process', async (t) => {
  const { server, checkOut, directory } = await openSite(t)
  server.hold()
  const controller = new AbortController()
  const checkout = checkOut({ marker: 'dep-aborted', signal: controller.signal })
  await untilGitProcesses('dep-aborted', () => server.isHeld())

  controller.abort()

  await assert.rejects(checkout.done, { name: 'AbortError' })
  assert.deepEqual(readdirSync(directory), [])
  assert.deepEqual(gitProcesses('dep-aborted'), [])
})

test('another key is refused with the command that shows the right one', async (t) => {
  const { server, checkOut, url, pins } = await openSite(t)
  server.allow(createSshKey('other').publicKey)

  await assert.rejects(checkOut().done, (error: Error & { code: string; facts: object }) => {
    assert.deepEqual([error.code, error.facts], ['git_remote_unreachable', { reason: 'deploy_key' }])
    assert.ok(error.message.startsWith(`cannot read ${url}: `), error.message)
    assert.match(error.message, /Permission denied \(publickey\)/)
    assert.ok(
      error.message.endsWith(
        `enter the key of this service as a deploy key of the repository: ${command} shows it`,
      ),
    )
    return true
  })
  assert.deepEqual(pins(), [])
})

for (const type of ['ed25519', 'ecdsa'] as const) {
  test(`a host with a new key of type ${type} is refused until its pin is forgotten`, async (t) => {
    const { server, checkOut, pins, forget, url } = await openSite(t)
    await checkOut().done
    const [pin] = pins()
    const shown = await server.replaceHostKey(type)

    const known = `ssh-ed25519 ${fingerprintOf(pin!.key)}`
    const remedy = `if the server really has a new key: ${command} --forget-host`
    await assert.rejects(checkOut().done, {
      code: 'host_key_changed',
      message: `cannot read ${url}: the key of its host is ${shown}, but ${known} is pinned; ${remedy}`,
    })
    assert.deepEqual(pins(), [pin])

    forget()
    await checkOut().done
    assert.deepEqual(
      pins().map(({ key }) => fingerprintOf(key)),
      [shown],
    )
  })
}

test('a submodule on the same host is read with the key, one on another host is refused', async (t) => {
  const { server, checkOut, repository } = await openSite(t)
  const library = createRepository(t, { name: 'library' })
  const head = library.commit('Library', { part: 'two' })
  repository.submodule('library', server.url(library.directory), head)
  const checkout = checkOut()
  await checkout.done
  assert.equal(readTree(checkout.directory)['library/part'], 'two')

  repository.submodule('other', 'ssh://git@git.example.com/other', head)
  const count = server.count()
  await assert.rejects(checkOut().done, { code: 'source_invalid' })
  assert.equal(server.count(), count + 1)
})

test('a key is one that ssh-keygen reads, and no two are the same', async (t) => {
  const file = join(temporaryDirectory(t), 'key')
  const [key, other] = [createSshKey('berth-shop'), createSshKey('berth-shop')]
  writeFileSync(file, key.privateKey, { mode: 0o600 })

  assert.equal((await run('ssh-keygen', ['-y', '-f', file])).trim(), key.publicKey)
  const [, fingerprint] = (await run('ssh-keygen', ['-l', '-f', file])).split(' ')
  assert.equal(fingerprintOf(key.publicKey.split(' ')[1]!), fingerprint)
  assert.notEqual(key.publicKey, other.publicKey)
})
