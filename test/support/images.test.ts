// What all other tests stand on: an engine that answers and base images that are there and always the same.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ensureEngine, pingEngine } from './engine.ts'
import { askEngine } from './engine-request.ts'
import { withFileLock } from './file-lock.ts'
import { createImageArchive } from './image-archive.ts'
import { baseImages } from './images.ts'
import { createRootFilesystem } from './root-filesystem.ts'

const settings = { Env: [], Cmd: ['sh'], Labels: {} }

async function temporaryFolder(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'berth-support-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

test('the engine that is promised answers', async () => {
  const address = await ensureEngine()

  assert.equal(await pingEngine(address), null)
})

test('an address where nothing listens is told by its reason', async (t) => {
  const directory = await temporaryFolder(t)

  assert.equal(await pingEngine(`unix://${directory}/none.sock`), 'ENOENT')
})

test('the base images are on the engine and carry none of the product’s labels', async () => {
  const engine = await ensureEngine()
  const images = Object.values(await baseImages())

  const answers = await Promise.all(images.map((image) => askEngine(engine, `/images/${image}/json`)))

  const labels = answers.map(({ text }) => JSON.parse(text).Config.Labels)
  assert.deepEqual(labels, [{ 'berth.test': 'base' }, { 'berth.test': 'base' }])
})

test('the same files give the same image, in whatever order they came', async () => {
  const one = createRootFilesystem()
  one.file('bin/hello', 'hello')
  one.symlink('etc/greeting', '/bin/hello')
  const other = createRootFilesystem()
  other.symlink('/etc/greeting', '/bin/hello')
  other.file('./usr/bin/hello', 'hello')

  const archives = [one, other].map(async (root) => createImageArchive('x:1', await root.toTar(), settings))

  const [first, second] = await Promise.all(archives)
  assert.deepEqual(first, second)
})

test('a file of a package lands behind the link that its folder is', async () => {
  const packaged = createRootFilesystem()
  packaged.file('lib/x86_64/libc.so', 'code')
  const root = createRootFilesystem()

  await root.unpack(await packaged.toTar())

  assert.equal(root.read('/usr/lib/x86_64/libc.so').toString(), 'code')
  assert.deepEqual(root.paths('lib'), [])
})

test('two holders of one file lock take turns', async (t) => {
  const path = join(await temporaryFolder(t), 'lock')
  const order: string[] = []
  const hold = (name: string) =>
    withFileLock(path, async () => {
      order.push(`${name} in`)
      await new Promise((resolve) => setImmediate(resolve))
      order.push(`${name} out`)
    })

  await Promise.all([hold('a'), hold('b')])

  const [first, second] = order[0] === 'a in' ? ['a', 'b'] : ['b', 'a']
  assert.deepEqual(order, [`${first} in`, `${first} out`, `${second} in`, `${second} out`])
})
