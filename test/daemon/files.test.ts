// `berth cp` with real containers: files, folders and archives, into instances and disks and back.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { packTar, tarEnd, tarHeader } from '../support/archive/archive.ts'
import { runBerth, startBerth } from '../support/cli/berth.ts'
import { openTcpGate } from '../support/cli/tcp-gate.ts'
import { sharedWorker } from '../support/daemon/jobs.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { daemonSuite } from '../support/daemon/suite.ts'
import { siteServerImage } from '../support/docker/server-images.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite({ args: [`--static-image=${await siteServerImage()}`] })
const aWorker = sharedWorker(fileScope(), suite, { disk_mount_path: '/data' })

type Options = NonNullable<Parameters<typeof runBerth>[2]>

const berth = (t: TestContext, words: string[], options: Options = {}) =>
  runBerth(t, words, { daemon: suite.daemon, ...options })

const cp = async (t: TestContext, cwd: string, from: string, to: string) => {
  const { code, stderr } = await berth(t, ['cp', from, to], { cwd })
  assert.equal(code, 0, stderr)
}

test('files and folders go in and come back as they were, for the owner of the folder', async (t) => {
  const { name } = await aWorker()
  const cwd = temporaryDirectory(t)
  const bytes = randomBytes(3_000_000)
  mkdirSync(join(cwd, 'photos/old/empty'), { recursive: true })
  writeFileSync(join(cwd, 'photos/one.bin'), bytes)
  writeFileSync(join(cwd, 'photos/old/run.sh'), 'echo hi\n')
  chmodSync(join(cwd, 'photos/old/run.sh'), 0o755)
  symlinkSync('old/run.sh', join(cwd, 'photos/run'))
  await berth(t, ['ssh', name, '--', 'mkdir /data/owned; chown 7:8 /data/owned; ln -s owned /data/link'])

  await cp(t, cwd, 'photos', `${name}:/data/link`)
  await cp(t, cwd, 'photos/one.bin', `${name}:/data/new.bin`)
  const listing =
    'cd /data/owned/photos && stat -c "%n %u:%g %a" . one.bin old/run.sh old/empty && readlink run'
  const { stdout } = await berth(t, ['ssh', name, '--', listing])
  assert.deepEqual(stdout.trim().split('\n'), [
    '. 7:8 755',
    'one.bin 7:8 644',
    'old/run.sh 7:8 755',
    'old/empty 7:8 755',
    'old/run.sh',
  ])

  await cp(t, cwd, `${name}:/data/link/photos`, 'again')
  await cp(t, cwd, `${name}:/data/new.bin`, '.')
  assert.deepEqual(readFileSync(join(cwd, 'again/one.bin')), bytes)
  assert.deepEqual(readFileSync(join(cwd, 'new.bin')), bytes)
  assert.equal(readFileSync(join(cwd, 'again/run'), 'utf8'), 'echo hi\n')
  assert.equal(statSync(join(cwd, 'again/old/run.sh')).mode & 0o777, 0o755)

  const entries = await until('the outcomes', async () => {
    const { entries } = { entries: await suite.api.get('/audit?limit=50') }
    const copies = entries.filter(({ action }: { action: string }) => /_?file$/.test(action))
    return copies.every(({ finished_at }: { finished_at: string | null }) => finished_at) && copies
  })
  const known = entries.map((entry: { action: string; service_name: string; status: number }) => [
    entry.action,
    entry.service_name,
    entry.status,
  ])
  assert.deepEqual(known, [
    ['service.file', name, 200],
    ['service.file', name, 200],
    ['service.set_file', name, 204],
    ['service.set_file', name, 204],
  ])
})

test('a tar passes through standard input and output', async (t) => {
  const { name } = await aWorker()
  const out = binaryOutput()
  const content = randomBytes(100_000)
  const tar = Buffer.concat([
    tarHeader({ name: 'raw', size: content.length.toString(8).padStart(11, '0') }),
    content,
    Buffer.alloc(512 - (content.length % 512)),
    tarEnd,
  ])
  const put = await berth(t, ['cp', '-', `${name}:/data`], { stdin: Readable.from([tar]) })
  assert.deepEqual(put, { code: 0, stdout: '', stderr: '' })
  assert.equal((await berth(t, ['cp', `${name}:/data/raw`, '-'], { stdout: out.stream })).code, 0)
  assert.ok(out.bytes().includes(content))
  const garbage = await berth(t, ['cp', '-', `${name}:/data`], { input: 'no tar, '.repeat(1000) })
  assert.equal(garbage.code, 1)
  assert.match(garbage.stderr, /the archive cannot be extracted/)
  assert.match((await berth(t, ['cp', '-', `${name}:/data`])).stderr, /the body is empty/)
})

test('a disk is reached while nothing runs, and nothing is written next to it', async (t) => {
  const { name, id } = await aWorker()
  const cwd = temporaryDirectory(t)
  writeFileSync(join(cwd, 'notes'), 'kept\n')
  await berth(t, ['ssh', name, '--', 'ln -s /etc /data/out; ln -s / /data/root'])
  await berth(t, ['suspend', name])
  const refused = await berth(t, ['cp', 'notes', `${name}:/data/`], { cwd })
  assert.match(refused.stderr, /no instance of \S+ is running/)

  const disk = `disk:${suite.daemon.prefix}-${id}`
  await cp(t, cwd, 'notes', `${disk}:/`)
  await cp(t, cwd, `${disk}:/../notes`, 'back')
  await cp(t, cwd, `${disk}:/`, 'all')
  assert.equal(readFileSync(join(cwd, 'back'), 'utf8'), 'kept\n')
  assert.equal(readFileSync(join(cwd, 'all/notes'), 'utf8'), 'kept\n')
  const out = await berth(t, ['cp', '-', `${disk}:/root/etc`], {
    stdin: Readable.from([await packTar([{ name: 'x', content: 'x' }])]),
  })
  assert.deepEqual([out.code, /is on a read-only file system/.test(out.stderr)], [1, true], out.stderr)
  const outside = await berth(t, ['cp', 'notes', `${disk}:/out/notes`], { cwd })
  assert.deepEqual(
    [outside.code, /a link that leads out of the disk, to \/etc/.test(outside.stderr)],
    [1, true],
  )
  const missing = await berth(t, ['cp', `${disk}:/none`, 'x'], { cwd })
  assert.match(missing.stderr, /there is no \/none there/)
  assert.match((await berth(t, ['cp', `disk:nonesuch:/`, 'x'])).stderr, /there is no disk 'nonesuch'/)
  assert.equal((await berth(t, ['resume', name])).code, 0)
  await until('the instance', async () => (await berth(t, ['ssh', name, '--', 'true'])).code === 0)
})

test('wrong paths are refused with a reason', async (t) => {
  const { name } = await aWorker()
  const cwd = temporaryDirectory(t)
  writeFileSync(join(cwd, 'notes'), 'x')
  mkdirSync(join(cwd, 'folder'))
  const said = async (...words: string[]) => {
    const { code, stderr } = await berth(t, ['cp', ...words], { cwd })
    return `${code}: ${stderr.replaceAll(name, 'NAME').replaceAll('\n', ' ').trim()}`
  }
  assert.match(await said(`${name}:/nonesuch`, '.'), /^3: .*there is no \/nonesuch there/)
  assert.match(await said('notes', `${name}:/nonesuch/notes`), /^3: .*there is no folder \/nonesuch there/)
  assert.match(await said('folder', `${name}:/etc/passwd`), /^1: .*exists and is not a folder/)
  assert.match(await said('gone', `${name}:/tmp`), /^2: .*cannot read gone: it does not exist/)
  assert.match(await said('notes', 'folder'), /^2: .*one side is a path here/)
  assert.match(await said('notes', `${name}:tmp`), /^2: .*must begin with a slash/)
  assert.match(await said('notes', 'nonesuch:/tmp'), /^3: /)
  assert.match(await said(`${name}:/etc`, 'notes'), /^1: .*exists and is not a folder/)
})

const mebibyte = 1024 * 1024

/** What an uploaded folder has: a file that fits before the cut, and one that does not. */
function cutFolder(cwd: string) {
  mkdirSync(join(cwd, 'photos'))
  const [first, second] = [randomBytes(mebibyte), randomBytes(24 * mebibyte)]
  writeFileSync(join(cwd, 'photos/1-whole'), first)
  writeFileSync(join(cwd, 'photos/2-cut'), second)
  return { first, second }
}

/** The container through which a disk is reached. */
const helpers = async () =>
  (await findLeftovers(suite.daemon.prefix)).containers.filter((name) => name.includes('-files-'))
const untilNoHelper = () => until('no helper container', async () => (await helpers()).length === 0)

for (const [what, pathOf] of Object.entries({
  'an instance': (name: string) => `${name}:/tmp`,
  'a disk': (name: string) => `disk:${name}:/`,
}))
  test(`a cut upload into ${what} leaves what has arrived, and a repeated one is whole`, async (t) => {
    const { name } = await aWorker()
    const cwd = temporaryDirectory(t)
    const { first, second } = cutFolder(cwd)
    const gate = await openTcpGate(t, () => suite.api.url, { limitBytes: 12 * mebibyte })
    const cut = await berth(t, ['cp', 'photos', pathOf(name)], { cwd, env: { BERTH_SERVER: gate.url } })
    assert.equal(cut.code, 5)
    assert.match(cut.stderr, /cannot reach the server at \S+: it closed the connection/)
    await untilNoHelper()
    const entry = await until('the outcome', async () => {
      const entries = await suite.api.get('/audit?limit=20')
      const { action, ...entry } = entries[0]
      return /set_file$/.test(action) && entry.finished_at !== null && entry
    })
    assert.equal(entry.code, 'client_left')

    await cp(t, cwd, `${pathOf(name)}/photos`, 'arrived')
    assert.deepEqual(readFileSync(join(cwd, 'arrived/1-whole')), first)
    const part = readFileSync(join(cwd, 'arrived/2-cut'))
    assert.ok(part.length < second.length && part.equals(second.subarray(0, part.length)))

    await cp(t, cwd, 'photos', pathOf(name))
    await cp(t, cwd, `${pathOf(name)}/photos`, 'again')
    assert.deepEqual(readFileSync(join(cwd, 'again/2-cut')), second)
    await untilNoHelper()
  })

long('a daemon killed in the middle of a copy leaves nothing, and a repeated copy works', async (t) => {
  const { name } = await aWorker()
  const cwd = temporaryDirectory(t)
  const found = async () => {
    const { containers, volumes } = await findLeftovers(suite.daemon.prefix)
    return { containers, volumes }
  }
  const before = await found()
  const restart = async () => {
    assert.equal((await helpers()).length, 1)
    await suite.daemon.kill()
    await suite.daemon.start()
    await untilNoHelper()
    assert.deepEqual(await found(), before)
  }
  const content = Buffer.alloc(128 * mebibyte, 'berth cp\n')
  const size = content.length.toString(8).padStart(11, '0')
  const stdin = new PassThrough()
  stdin.write(Buffer.concat([tarHeader({ name: 'big', size }), content.subarray(0, 8 * mebibyte)]))
  const upload = startBerth(t, ['cp', '-', `disk:${name}:/`], { daemon: suite.daemon, stdin })
  await until('a part of the file', async () => {
    const { stdout } = await berth(t, ['ssh', name, '--', 'stat -c %s /data/big'])
    return Number(stdout) > 0
  })
  await restart()
  stdin.destroy()
  const uploaded = await upload.ended()
  assert.equal(uploaded.code, 5)
  assert.match(uploaded.stderr, /cannot reach the server at \S+: it closed the connection/)
  writeFileSync(join(cwd, 'big'), content)
  await cp(t, cwd, 'big', `disk:${name}:/`)

  const download = startBerth(t, ['cp', `disk:${name}:/big`, 'back'], { daemon: suite.daemon, cwd })
  await Promise.race([
    download.ended().then(({ stderr }) => assert.fail(`it ended too early: ${stderr}`)),
    until('a part of the file', async () => statSync(join(cwd, 'back')).size > 0),
  ])
  await restart()
  const downloaded = await download.ended()
  assert.equal(downloaded.code, 5)
  assert.match(downloaded.stderr, /closed the connection in the middle of a response/)
  await cp(t, cwd, `disk:${name}:/big`, 'back')
  assert.ok(readFileSync(join(cwd, 'back')).equals(content))
})

function binaryOutput() {
  const pieces: Buffer[] = []
  const stream = new Writable({
    write(piece, _, done) {
      pieces.push(piece)
      done()
    },
  })
  return { stream, bytes: () => Buffer.concat(pieces) }
}
