// The hosts of git: by address, by name, and after a redirect. Git never connects to a refused host.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pinHost } from '../../src/git/remote-host.ts'
import { parseRepositoryUrl } from '../../src/git/repository.ts'
import { readTree, startCheckout } from '../support/git/checkout.ts'
import { createGitServer } from '../support/git/git-server.ts'
import { createRepository } from '../support/git/repository.ts'

const lookups: string[] = []
const resolvesTo =
  (...addresses: string[]) =>
  async (name: string) => {
    lookups.push(name)
    return addresses
  }
const pin = (url: string, addresses: string[] = [], denyPrivateHosts = false, localHosts: string[] = []) =>
  pinHost(parseRepositoryUrl(url), { denyPrivateHosts, localHosts, resolve: resolvesTo(...addresses) })

const refused = { code: 'source_invalid' }

test('link-local and metadata addresses are refused, in any notation', async () => {
  for (const host of [
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '0251.0376.0251.0376',
    '100.100.100.200',
  ]) {
    await assert.rejects(pin(`http://${host}/app`), refused, host)
  }
  for (const addresses of [
    ['169.254.1.1'],
    ['8.8.8.8', 'fe80::1'],
    ['::ffff:169.254.169.254'],
    ['fd00:ec2::254'],
  ]) {
    await assert.rejects(pin('https://git.example.com/app', addresses), refused, String(addresses))
    await assert.rejects(pin('git@git.example.com:app', addresses), refused, String(addresses))
  }
})

test('a loopback address is refused unless --local-git-host has the name of the host', async () => {
  for (const address of ['127.0.0.1', '127.8.8.8', '::1']) {
    await assert.rejects(pin('http://git.example.com:3000/app', [address]), {
      ...refused,
      message: /resolves to .*, a loopback address; .* --local-git-host git\.example\.com$/,
    })
    const pinned = await pin('http://git.example.com:3000/app', [address], true, ['git.example.com'])
    assert.match(pinned!, /^git\.example\.com:3000:/)
  }
  await assert.rejects(pin('http://127.0.0.1:3000/app'), refused)
  await assert.rejects(pin('git@localhost:app', ['127.0.0.1']), refused)
  assert.equal(await pin('http://127.0.0.1:3000/app', [], true, ['127.0.0.1']), null)
  const metadata = pin('http://git.example.com/app', ['169.254.169.254'], false, ['git.example.com'])
  await assert.rejects(metadata, refused)
})

test('private hosts are allowed unless --deny-private-git-hosts forbids them', async () => {
  for (const address of ['10.0.0.5', '192.168.1.2', '100.64.0.1', 'fd12::1']) {
    assert.match((await pin('https://git.example.com/app', [address]))!, /^git\.example\.com:443:/)
    await assert.rejects(pin('https://git.example.com/app', [address], true), {
      ...refused,
      message: /resolves to .* --deny-private-git-hosts/,
    })
  }
  const pinned = await pin('http://git.example.com:8080/app', ['192.0.66.2', '2606:50c0::1'], true)
  assert.equal(pinned, 'git.example.com:8080:192.0.66.2,[2606:50c0::1]')
})

test('--deny-private-git-hosts forbids deprecated private IPv6 ranges too', async () => {
  for (const address of ['fec0::1', '::10.0.0.1', '::ffff:10.0.0.1']) {
    await assert.rejects(pin('https://git.example.com/app', [address], true), refused, address)
  }
})

test('the refusal of a host names the alternative', async () => {
  await assert.rejects(pin('http://169.254.169.254/app'), { message: /; use the address of a git server$/ })
})

test('git connects to the address that was checked, even if the name changes later', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { file: 'one' })
  const { url } = await createGitServer(t, repository)
  const named = url.replace('127.0.0.1', 'git.invalid')

  const { directory, done } = startCheckout(t, {
    url: `${named}/app`,
    hostRules: { resolve: resolvesTo('127.0.0.1') },
  })

  await done
  assert.deepEqual(readTree(directory), { file: 'one' })
})

test('a redirect to a link-local address is not followed', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { file: 'one' })
  const { url } = await createGitServer(t, {
    ...repository,
    answer: ({ path }) => ({ redirect: `http://169.254.169.254${path}` }),
  })

  await assert.rejects(startCheckout(t, { url: `${url}/app` }).done, {
    code: 'source_invalid',
    message: /link-local or metadata address/,
  })
})

test('a redirect to a name that resolves to a link-local address is not followed', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { file: 'one' })
  const { url } = await createGitServer(t, {
    ...repository,
    answer: ({ path }) => ({ redirect: `http://inside.example.com${path}` }),
  })
  const resolve = async () => ['169.254.169.254']

  await assert.rejects(startCheckout(t, { url: `${url}/app`, hostRules: { resolve } }).done, {
    code: 'source_invalid',
    message: /inside\.example\.com resolves to 169\.254\.169\.254/,
  })
})

test('a name that only a proxy can resolve is never connected to directly', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { file: 'one' })
  const { url, requests } = await createGitServer(t, repository)
  const before = process.env
  // The proxy is not used for any name: git would connect itself.
  process.env = { ...before, http_proxy: 'http://127.0.0.1:9', no_proxy: '*' }
  t.after(() => {
    process.env = before
  })
  const resolve = async () => []

  const named = url.replace('127.0.0.1', 'localhost')
  await assert.rejects(startCheckout(t, { url: `${named}/app`, hostRules: { resolve } }).done, {
    code: 'git_remote_unreachable',
  })
  assert.deepEqual(requests, [])
})

test('behind NAT64 a public host stays public, and a private one private', async () => {
  assert.match((await pin('https://git.example.com/app', ['64:ff9b::8c52:7903'], true))!, /64:ff9b/)
  await assert.rejects(pin('https://git.example.com/app', ['64:ff9b::a00:5'], true), refused)
  await assert.rejects(pin('https://git.example.com/app', ['64:ff9b:1::a00:1'], true), refused)
})

test('a name that does not resolve is left to ssh, unless only public hosts are allowed', async () => {
  assert.equal(await pin('git@work:app'), null)
  await assert.rejects(pin('git@work:app', [], true), { code: 'git_remote_unreachable' })
  await assert.rejects(pin('https://git.example.com/app'), { code: 'git_remote_unreachable' })
})
