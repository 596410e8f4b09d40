import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { extract } from 'tar-stream'
import {
  type BuildContext,
  type ContextRequest,
  openBuildContext,
} from '../../../src/docker/dockerfile/build-context.ts'
import { writeTree } from '../../support/archive/write-tree.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('a directory is packed in order, with its modes, and owned by root', async (t) => {
  const contextDir = tree(t, { Dockerfile: 'FROM x', 'b/run.sh': 'go', 'a.txt': 'A', empty: '' })
  chmodSync(join(contextDir, 'b/run.sh'), 0o4755)

  const entries = await pack({ contextDir })

  assert.deepEqual(
    entries.map(({ name, type, content }) => [name, type, content]),
    [
      ['Dockerfile', 'file', 'FROM x'],
      ['a.txt', 'file', 'A'],
      ['b', 'directory', ''],
      ['b/run.sh', 'file', 'go'],
      ['empty', 'file', ''],
    ],
  )
  assert.equal(entries.find(({ name }) => name === 'b/run.sh')?.mode, 0o755)
  assert.ok(entries.every(({ uid, gid }) => uid === 0 && gid === 0))
})

test('links stay links, and a link that leaves the tree is not followed', async (t) => {
  const outside = tree(t, { secret: 'do not read', 'more/secret': 'nor this' })
  const contextDir = tree(t, { Dockerfile: 'FROM x', 'real/file': 'x' })
  symlinkSync(join(outside, 'secret'), join(contextDir, 'file-link'))
  symlinkSync(outside, join(contextDir, 'folder-link'))
  symlinkSync('real', join(contextDir, 'inner-link'))
  symlinkSync('nowhere', join(contextDir, 'broken-link'))

  const entries = await pack({ contextDir })

  assert.deepEqual(
    entries.filter(({ type }) => type === 'symlink').map(({ name, linkname }) => [name, linkname]),
    [
      ['broken-link', 'nowhere'],
      ['file-link', join(outside, 'secret')],
      ['folder-link', outside],
      ['inner-link', 'real'],
    ],
  )
  assert.equal(
    entries.some(({ content }) => content.includes('secret') || content.includes('do not')),
    false,
  )
})

test('sockets and pipes are skipped', async (t) => {
  const contextDir = tree(t, { Dockerfile: 'FROM x' })
  execFileSync('mkfifo', [join(contextDir, 'pipe')])
  const server = createServer()
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(join(contextDir, 'socket'), resolve))

  assert.deepEqual(await readPaths({ contextDir }), ['Dockerfile'])
})

test('.dockerignore is applied with its exceptions, wildcards and comments', async (t) => {
  const patterns = [
    '# comment',
    'node_modules',
    '*.log',
    '**/*.tmp',
    'docs/*',
    '!docs/keep.md',
    '/root-only',
    'c++',
  ]
  const contextDir = tree(t, {
    '.dockerignore': `${patterns.join('\r\n')}\r\n\r\n`,
    Dockerfile: 'FROM x',
    'node_modules/left/pad.js': '',
    'app.log': '',
    'logs/app.log': '',
    'deep/down/x.tmp': '',
    'docs/keep.md': '',
    'docs/drop.md': '',
    'root-only': '',
    'sub/root-only': '',
    'c++/main.cc': '',
  })

  assert.deepEqual(await readPaths({ contextDir }), [
    '.dockerignore',
    'Dockerfile',
    'deep',
    'deep/down',
    'docs',
    'docs/keep.md',
    'logs',
    'logs/app.log',
    'sub',
    'sub/root-only',
  ])
})

test('an exception below an ignored folder is found', async (t) => {
  const contextDir = tree(t, {
    '.dockerignore': '*\n!src/app/main.js',
    Dockerfile: '',
    'src/app/main.js': '',
    x: '',
  })

  assert.deepEqual(await readPaths({ contextDir }), ['Dockerfile', 'src/app/main.js'])
})

test('the ignore file of a Dockerfile overrides the common one', async (t) => {
  const contextDir = tree(t, {
    '.dockerignore': 'a',
    'docker/api.Dockerfile': 'FROM x',
    'docker/api.Dockerfile.dockerignore': 'b\ndocker',
    a: '',
    b: '',
  })

  const paths = await readPaths({ contextDir, dockerfile: 'docker/api.Dockerfile' })

  assert.deepEqual(paths, ['.dockerignore', 'a', 'docker/api.Dockerfile'])
})

test('a Dockerfile outside the context, but inside the source, is added as a copy', async (t) => {
  const sourceDir = tree(t, { 'docker/web.Dockerfile': 'FROM web', 'app/index.js': '' })
  const request = { contextDir: join(sourceDir, 'app'), sourceDir, dockerfile: '../docker/web.Dockerfile' }

  const context = await open(request)
  const entries = await readEntries(context)

  assert.equal(context.dockerfile, '.berth.Dockerfile')
  assert.deepEqual(
    entries.map(({ name, content }) => [name, content]),
    [
      ['.berth.Dockerfile', 'FROM web'],
      ['index.js', ''],
    ],
  )
})

test('a missing Dockerfile, or one outside the source, fails with a clear message', async (t) => {
  const outside = tree(t, { Dockerfile: 'FROM x' })
  const contextDir = tree(t, { 'folder/x': '' })
  symlinkSync(join(outside, 'Dockerfile'), join(contextDir, 'Dockerfile'))

  const failure = (dockerfile: string, message: string) =>
    assert.rejects(open({ contextDir, dockerfile }), { code: 'build_failed', message })

  await failure('none', "the source has no file 'none'")
  await failure('folder', "'folder' is not a file")
  await failure('Dockerfile', "its file 'Dockerfile' points out of the source")
  const outer = '../../../../../etc/passwd'
  await failure(outer, `its file '${outer}' points out of the source`)
})

test('a context that is a link out of the source fails', async (t) => {
  const outside = tree(t, { Dockerfile: 'FROM x' })
  const sourceDir = tree(t, {})
  symlinkSync(outside, join(sourceDir, 'app'))

  await assert.rejects(open({ contextDir: join(sourceDir, 'app'), sourceDir }), {
    code: 'build_failed',
    message: 'its root directory points out of the source',
  })
})

test('packing without a reader ends with an abort', async (t) => {
  const contextDir = tree(t, { Dockerfile: '', big: 'x'.repeat(4 * 1024 * 1024) })
  const abort = new AbortController()
  const { packed } = await openBuildContext({ contextDir, dockerfile: 'Dockerfile', signal: abort.signal })

  abort.abort()

  await assert.rejects(packed, { name: 'AbortError' })
})

test('a directory that disappears while it is packed fails the stream and the packing alike', async (t) => {
  const contextDir = tree(t, { Dockerfile: '', big: 'x'.repeat(4 * 1024 * 1024), last: '' })
  const { stream, packed } = await open({ contextDir })
  rmSync(contextDir, { recursive: true })

  const words = { code: 'build_failed', message: /^the source cannot be read: ENOENT/ }
  await Promise.all([assert.rejects(text(stream), words), assert.rejects(packed, words)])
})

type Wish = Partial<ContextRequest> & { contextDir: string }

function open(wish: Wish) {
  return openBuildContext({ dockerfile: 'Dockerfile', signal: new AbortController().signal, ...wish })
}

async function pack(wish: Wish) {
  return readEntries(await open(wish))
}

// Reads the context to its end. Otherwise packing continues while the test removes its directory.
async function readEntries({ stream, packed }: BuildContext) {
  const entries = []
  const archive = stream.pipe(extract() as unknown as NodeJS.WritableStream)
  for await (const entry of archive as unknown as ReturnType<typeof extract>) {
    entries.push({ ...entry.header, content: await text(entry as unknown as NodeJS.ReadableStream) })
  }
  await packed
  return entries
}

async function readPaths(wish: Wish): Promise<string[]> {
  return (await pack(wish)).map(({ name }) => name.replace(/\/$/, ''))
}

function tree(t: TestContext, files: Record<string, string>): string {
  const root = temporaryDirectory(t)
  writeTree(root, files)
  return root
}
