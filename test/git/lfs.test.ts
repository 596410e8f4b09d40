// Files of Git LFS: that they arrive, where credentials go, and what servers and pointers cannot do.
import assert from 'node:assert/strict'
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseLfsUrl } from '../../src/git/lfs/request.ts'
import { createSshKey } from '../../src/git/ssh-key.ts'
import { type CheckoutOptions, readTree, startCheckout } from '../support/git/checkout.ts'
import { createLfsServer, type LfsServerOptions, pointerOf } from '../support/git/lfs-server.ts'
import { createRepository } from '../support/git/repository.ts'
import { createSshServer } from '../support/git/ssh-server.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const attributes = '*.bin filter=lfs diff=lfs merge=lfs -text\n'

async function openSite(t: TestContext, options: Partial<LfsServerOptions> = {}) {
  const repository = createRepository(t)
  const server = await createLfsServer(t, { root: repository.root, ...options })
  const url = `${server.url}/app`
  const checkOut = (changes: Partial<CheckoutOptions> = {}) => startCheckout(t, { url, ...changes })
  /** One file of LFS, and the checkout of its commit. */
  const checkOutOne = (text: string, changes: Partial<CheckoutOptions> = {}) => {
    repository.commit('One', { '.gitattributes': attributes, 'a.bin': text })
    return checkOut(changes)
  }
  return { repository, server, url, checkOut, checkOutOne }
}

test('the files of Git LFS arrive in place of their pointers, once for each content', async (t) => {
  const { repository, server, checkOut } = await openSite(t)
  const large = Buffer.alloc(5 * 1024 * 1024, 'large').toString()
  const files = {
    '.gitattributes': attributes,
    'a.bin': server.add('one'),
    'again.bin': pointerOf('one'),
    'crlf.bin': server.add('four').replaceAll('\n', '\r\n'),
    'deep/er/run.bin': server.add('two'),
    'empty.bin': server.add(''),
    'large.bin': server.add(large),
    'no-pointer.bin': 'small',
    'sub/.gitattributes': 'data filter=lfs\n',
    'sub/data': server.add('three'),
    'text.txt': pointerOf('one'),
    'link.bin': { symlink: 'a.bin' },
  }
  repository.commit('Files', files)
  chmodSync(join(repository.directory, 'deep/er/run.bin'), 0o755)
  repository.commit('Executable', {})

  const { directory, lines, done } = checkOut()
  await done

  assert.deepEqual(readTree(directory), {
    ...files,
    'a.bin': 'one',
    'again.bin': 'one',
    'crlf.bin': 'four',
    'deep/er/run.bin': 'two',
    'empty.bin': '',
    'large.bin': large,
    'sub/data': 'three',
    'link.bin': '-> a.bin',
  })
  assert.equal(statSync(join(directory, 'deep/er/run.bin')).mode & 0o777, 0o755)
  assert.equal(statSync(join(directory, 'a.bin')).mode & 0o777, 0o644)
  assert.equal(server.downloads.length, 6)
  assert.ok(lines.includes('fetching 7 files of Git LFS, 5 MiB'), lines.join('\n'))
})

test('objects are asked for in batches of a hundred', async (t) => {
  const { repository, server, checkOut } = await openSite(t)
  const files = Object.fromEntries(
    Array.from({ length: 250 }, (_, index) => [`${index}.bin`, server.add(`content ${index}`)]),
  )
  repository.commit('Many', { '.gitattributes': attributes, ...files })

  const { directory, done } = checkOut()
  await done

  assert.deepEqual(
    server.batches.map(({ body }) => body.objects.length),
    [100, 100, 50],
  )
  assert.equal(readFileSync(join(directory, '249.bin'), 'utf8'), 'content 249')
})

test('a source without files of Git LFS asks no server for them', async (t) => {
  const { repository, server, checkOut } = await openSite(t)
  repository.commit('None', { '.gitattributes': attributes, 'a.txt': 'a', 'b.bin': 'small' })
  await checkOut().done
  assert.deepEqual(server.batches, [])
})

const credentials = { username: 'ada', password: 'canary-lfs-77b0' }
const basic = `Basic ${Buffer.from('ada:canary-lfs-77b0').toString('base64')}`

test('credentials go to the server of the repository, and its tickets to their address only', async (t) => {
  const { server, checkOutOne } = await openSite(t, { credentials })
  const { directory, done } = checkOutOne(server.add('one'), { credentials })
  await done

  assert.equal(readTree(directory)['a.bin'], 'one')
  assert.equal(server.batches[0]!.headers.authorization, basic)
  assert.equal(server.batches[0]!.path, '/app.git/info/lfs/objects/batch')
  const [{ headers }] = server.downloads as [(typeof server.downloads)[0]]
  assert.equal(headers.authorization, undefined)
  assert.match(String(headers['x-ticket']), /^ticket of /)
})

test('a redirect to another server gets neither credentials nor tickets', async (t) => {
  const other = await openSite(t)
  const pointer = other.server.add('one')
  const { server, checkOutOne } = await openSite(t, {
    send(response, _, path) {
      response.writeHead(302, { location: `${other.server.storage}${path}` }).end()
      return true
    },
    batch: (count) =>
      count === 1 ? { status: 307, text: '', location: '/app.git/moved/objects/batch' } : null,
  })
  server.add('one')
  const { directory, done } = checkOutOne(pointer, { credentials })
  await done

  assert.equal(readTree(directory)['a.bin'], 'one')
  assert.deepEqual(
    server.batches.map(({ path, headers }) => [path, headers.authorization]),
    [
      ['/app.git/info/lfs/objects/batch', basic],
      ['/app.git/moved/objects/batch', basic],
    ],
  )
  const [{ headers }] = other.server.downloads as [(typeof server.downloads)[0]]
  assert.deepEqual([headers.authorization, headers['x-ticket']], [undefined, undefined])

  const away = await openSite(t, {
    batch: () => ({ status: 307, text: '', location: `${other.server.url}/app.git/info/lfs/objects/batch` }),
  })
  await away.checkOutOne(pointer, { credentials }).done
  assert.equal(other.server.batches[0]!.headers.authorization, undefined)
})

test('a token that the server refuses is renewed once', async (t) => {
  const { server, checkOutOne } = await openSite(t, {
    batch: (count) => (count === 1 ? { status: 401, text: '{"message":"expired"}' } : null),
  })
  const renewed = { username: 'ada', password: 'other' }
  const connection = { title: 'the Gitea connection of ada', renew: async () => renewed }
  await checkOutOne(server.add('one'), { credentials: { ...credentials, connection } }).done
  const sent = server.batches.map(({ headers }) => headers.authorization)
  assert.deepEqual(sent, [basic, `Basic ${Buffer.from('ada:other').toString('base64')}`])
})

const advice = 'if it is private, connect its account (berth git connect), or add user:token@ to its URL'
const batches: [answer: { status: number; text: string }, reason: string][] = [
  [{ status: 401, text: '{"message":"who\\nare you?"}' }, `it answered 401 who are you?; ${advice}`],
  [{ status: 404, text: '<html>' }, `it answered 404; ${advice}`],
  [{ status: 429, text: '{"message":"over quota"}' }, 'it answered 429 over quota'],
  [{ status: 200, text: 'hello' }, 'its response is not that of a server of Git LFS'],
  [
    { status: 200, text: '{"transfer":"tus","objects":[]}' },
    'its response is not that of a server of Git LFS',
  ],
  [{ status: 200, text: ' '.repeat(5_000_000) }, 'its response is larger than 1 MiB'],
]
for (const [index, [answer, reason]] of batches.entries()) {
  test(`batch ${index}: a server that answers ${answer.status} fails with its reason`, async (t) => {
    const { server, checkOutOne } = await openSite(t, { batch: () => answer })
    const { host } = new URL(server.url)
    await assert.rejects(checkOutOne(server.add('one')).done, {
      code: 'git_remote_unreachable',
      message: `cannot read Git LFS at ${host}: ${reason}`,
    })
  })
}

test('what a server says is shown without credentials', async (t) => {
  const text = JSON.stringify({ message: `you sent ${basic} and ${credentials.password}` })
  const { server, checkOutOne } = await openSite(t, { batch: () => ({ status: 403, text }) })
  await assert.rejects(checkOutOne(server.add('one'), { credentials }).done, (error: Error) => {
    assert.match(error.message, /it answered 403 you sent Basic \*\*\* and \*\*\*; its user name and token/)
    return true
  })
})

const wrongObjects: [what: string, options: Partial<LfsServerOptions>, code: string, message: RegExp][] = [
  [
    'is missing',
    { locate: (oid) => ({ oid, error: { code: 404, message: 'Object does not exist' } }) },
    'source_invalid',
    /^a\.bin is not in Git LFS at 127\.0\.0\.1:\d+: 404 Object does not exist$/,
  ],
  ['has no address', { locate: (oid) => ({ oid }) }, 'source_invalid', /: it names no address$/],
  ['is not listed', { locate: () => ({ oid: 'x' }) }, 'source_invalid', /: it names no address$/],
  [
    'is other content',
    { send: (response) => Boolean(response.end('two')) },
    'source_invalid',
    /^what 127\.0\.0\.1:\d+ sent for a\.bin in Git LFS has another SHA-256 than its pointer$/,
  ],
  [
    'ends early',
    { send: (response) => Boolean(response.end('on')) },
    'source_invalid',
    /sent for a\.bin in Git LFS ends after 2 B of 3 B$/,
  ],
  [
    'never ends',
    { send: (response) => Boolean(response.write('one') && response.write(Buffer.alloc(100_000))) },
    'source_invalid',
    /sent for a\.bin in Git LFS is larger than 3 B$/,
  ],
  [
    'is cut',
    {
      send(response) {
        response.writeHead(200, { 'content-length': 3 }).write('o', () => response.destroy())
        return true
      },
    },
    'git_remote_unreachable',
    /: it closed the connection$/,
  ],
  [
    'is refused',
    { send: (response) => Boolean(response.writeHead(403).end('one')) },
    'git_remote_unreachable',
    /: it answered 403 for a\.bin$/,
  ],
  [
    'redirects without an end',
    { send: (response, _, path) => Boolean(response.writeHead(302, { location: path }).end()) },
    'git_remote_unreachable',
    /: it redirects too often$/,
  ],
]
for (const [what, options, code, message] of wrongObjects) {
  test(`an object that ${what} fails the checkout`, async (t) => {
    const { server, checkOutOne } = await openSite(t, options)
    await assert.rejects(checkOutOne(server.add('one')).done, (error: Error & { code: string }) => {
      assert.deepEqual([error.code, message.test(error.message)], [code, true], error.message)
      return true
    })
  })
}

const addresses: [href: string, code: string, reason: RegExp][] = [
  ['http://169.254.169.254/latest', 'source_invalid', /: 169\.254\.169\.254 is a link-local or metadata/],
  ['http://[::ffff:169.254.169.254]/x', 'source_invalid', /a link-local or metadata address/],
  ['http://127.0.0.9/x', 'source_invalid', /127\.0\.0\.9 is a loopback address/],
  ['file:///etc/passwd', 'git_remote_unreachable', /it names an address that is not http or https$/],
  ['/etc/passwd', 'git_remote_unreachable', /it names an address that is not http or https$/],
  ['http://a:b@127.0.0.1/x', 'git_remote_unreachable', /it names an address with a password in it$/],
]
for (const [href, code, reason] of addresses) {
  test(`an object at ${href} is not fetched`, async (t) => {
    const locate = (oid: string) => ({ oid, actions: { download: { href } } })
    const { server, checkOutOne } = await openSite(t, { locate })
    await assert.rejects(checkOutOne(server.add('one')).done, (error: Error & { code: string }) => {
      assert.deepEqual([error.code, reason.test(error.message)], [code, true], error.message)
      return true
    })
  })
}

test('a server cannot set headers that end or redirect a request, nor leave https', async (t) => {
  const header = { Host: 'evil', 'Transfer-Encoding': 'chunked', Connection: 'upgrade', 'X-Good': 'yes' }
  const { server, checkOutOne } = await openSite(t, {
    locate: (oid, { actions }) => ({ oid, actions: { download: { ...actions.download, header } } }),
  })
  await checkOutOne(server.add('one')).done
  const [{ headers }] = server.downloads as [(typeof server.downloads)[0]]
  assert.equal(headers['x-good'], 'yes')
  assert.notEqual(headers.host, 'evil')
  assert.equal(headers['transfer-encoding'], undefined)

  const bad = await openSite(t, {
    locate: (oid, { actions }) => ({
      oid,
      actions: { download: { ...actions.download, header: { x: 'a\r\nhost: evil' } } },
    }),
  })
  await assert.rejects(bad.checkOutOne(bad.server.add('one')).done, { code: 'git_remote_unreachable' })
  assert.throws(() => parseLfsUrl('http://a.example.com/x', new URL('https://git.example.com')), {
    message: 'cannot read Git LFS at git.example.com: it leads away from https, to http://a.example.com',
  })
})

test('an address with many headers is no answer of a server of Git LFS', async (t) => {
  const headersOf = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'a']))
  const openWith = (count: number) =>
    openSite(t, {
      locate: (oid, { actions }) => ({
        oid,
        actions: { download: { ...actions.download, header: headersOf(count) } },
      }),
    })
  const [few, many] = [await openWith(20), await openWith(21)]

  await few.checkOutOne(few.server.add('one')).done
  await assert.rejects(many.checkOutOne(many.server.add('one')).done, { code: 'git_remote_unreachable' })
})

test('.lfsconfig is not obeyed', async (t) => {
  const other = await openSite(t)
  const { repository, server, checkOut } = await openSite(t)
  const lfsconfig = `[lfs]\n\turl = ${other.server.url}/app.git/info/lfs\n`
  repository.commit('Config', {
    '.gitattributes': attributes,
    '.lfsconfig': lfsconfig,
    'a.bin': server.add('one'),
  })
  await checkOut().done
  assert.deepEqual([server.batches.length, other.server.batches.length], [1, 0])
})

const someOid = 'a'.repeat(64)
const version = 'version https://git-lfs.github.com/spec/v1\n'
const pointers: [what: string, text: string][] = [
  ['without an object', version],
  ['with a path as an object', `${version}oid sha256:../../../../etc/passwd\nsize 1\n`],
  ['with a short object', `${version}oid sha256:abc\nsize 1\n`],
  ['with a negative size', `${version}oid sha256:${someOid}\nsize -1\n`],
  ['with an endless size', `${version}oid sha256:${someOid}\nsize ${'9'.repeat(30)}\n`],
  ['with an extension', `${version}ext-0-x sha256:${someOid}\noid sha256:${someOid}\nsize 1\n`],
]
for (const [what, text] of pointers) {
  test(`a pointer ${what} fails the checkout`, async (t) => {
    const { server, checkOutOne } = await openSite(t)
    await assert.rejects(checkOutOne(text).done, {
      code: 'source_invalid',
      message: 'a.bin is not a valid pointer of Git LFS: commit the file again',
    })
    assert.deepEqual(server.batches, [])
  })
}

test('files that do not fit are not asked for', async (t) => {
  const { server, checkOutOne } = await openSite(t)
  const text = `${version}oid sha256:${someOid}\nsize 999999999999999\n`
  await assert.rejects(checkOutOne(text, { roomBytes: 3 * 1024 * 1024 }).done, {
    code: 'insufficient_storage',
    message: 'the files of Git LFS have 909.5 TiB, and 3 MiB are free',
  })
  assert.deepEqual(server.batches, [])
})

test('one object with two sizes is refused', async (t) => {
  const { repository, server, checkOut } = await openSite(t)
  const pointer = server.add('one')
  const other = pointer.replace('size 3', 'size 4')
  repository.commit('Two', { '.gitattributes': attributes, 'a.bin': pointer, 'b.bin': other })
  await assert.rejects(checkOut().done, {
    code: 'source_invalid',
    message: 'a.bin and b.bin name one object with different sizes',
  })
})

test('an abort ends a download that stalls', async (t) => {
  const controller = new AbortController()
  const { repository, server, checkOut } = await openSite(t, {
    send(response) {
      response.write('o', () => controller.abort())
      return true
    },
  })
  const files = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`${name}.bin`, server.add(name)]))
  repository.commit('Some', { '.gitattributes': attributes, ...files })

  await assert.rejects(checkOut({ signal: controller.signal }).done, { name: 'AbortError' })
  assert.ok(server.downloads.length < 5)
})

test('the files of a repository that is given by its path stay pointers, and the log says so', async (t) => {
  const repository = createRepository(t)
  repository.commit('One', { '.gitattributes': attributes, 'a.bin': pointerOf('one') })
  const { directory, lines, done } = startCheckout(t, { url: repository.directory })
  await done
  assert.equal(readTree(directory)['a.bin'], pointerOf('one'))
  assert.ok(lines.includes('the files of Git LFS are not read from a path: the build gets pointers'))
})

test('the files of a submodule arrive too', async (t) => {
  const { repository, server, checkOut } = await openSite(t, { credentials })
  const library = createRepository(t, { root: repository.root, name: 'library' })
  const files = { '.gitattributes': attributes, 'part.bin': server.add('part') }
  repository.submodule('library', '../library', library.commit('Library', files))
  const { directory, done } = checkOut({ credentials })
  await done
  assert.equal(readTree(directory)['library/part.bin'], 'part')
  assert.equal(server.batches[0]!.path, '/library.git/info/lfs/objects/batch')
})

test('over ssh, the server names the address and what lets in there', async (t) => {
  const { repository, server } = await openSite(t)
  repository.commit('One', { '.gitattributes': attributes, 'a.bin': server.add('one') })
  const sshd = await createSshServer(t)
  const key = createSshKey('berth-shop')
  sshd.allow(key.publicKey)
  const header = { Authorization: 'RemoteAuth canary' }
  sshd.answerLfs(JSON.stringify({ href: `${server.url}/app.git/info/lfs`, header, expires_in: 60 }))
  const directory = temporaryDirectory(t)
  const use = { privateKey: key.privateKey, directory, pinned: () => [], pin: async () => undefined }
  const ssh = { command: 'berth deploy-key shop', key: use }
  const url = sshd.url(repository.directory)

  const checkout = startCheckout(t, { url, ssh })
  await checkout.done

  assert.equal(readTree(checkout.directory)['a.bin'], 'one')
  assert.equal(server.batches[0]!.headers.authorization, header.Authorization)
  assert.equal(sshd.lfsAsked(), `git-lfs-authenticate '${repository.directory.slice(1)}' download\n`)
  assert.deepEqual(readdirSync(directory), [])
  assert.doesNotMatch(checkout.lines.join('\n'), /canary/)

  sshd.answerLfs(JSON.stringify({ href: 'http://169.254.169.254/', header }))
  await assert.rejects(startCheckout(t, { url, ssh }).done, { code: 'source_invalid' })
  sshd.answerLfs(null)
  await assert.rejects(startCheckout(t, { url, ssh }).done, {
    code: 'git_remote_unreachable',
    message: `${url} does not say where its Git LFS is: cat: lfs: No such file or directory`,
  })
  sshd.answerLfs('nothing')
  await assert.rejects(startCheckout(t, { url, ssh }).done, {
    code: 'git_remote_unreachable',
    message: `${url} does not say where its Git LFS is`,
  })
})
