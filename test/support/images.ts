// The base images of tests and demo, made from Debian packages so that no registry is needed. The tag is the
// hash of what went in: an image that is there is the right one.
import { createHash } from 'node:crypto'
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './command.ts'
import {
  cacheDirectory,
  choosePackages,
  fetchPackages,
  PackagesMissing,
  type PackageWish,
  readPackage,
} from './debian-packages.ts'
import { ensureEngine } from './engine.ts'
import { askEngine } from './engine-request.ts'
import { withFileLock } from './file-lock.ts'
import { createImageArchive, type ImageSettings } from './image-archive.ts'
import { createRootFilesystem, type RootFilesystem } from './root-filesystem.ts'
import { Unprepared } from './unprepared.ts'

interface Recipe {
  name: string
  /** Raised when the recipe or what it is cooked with changes. */
  version: number
  wish: PackageWish
  /** What goes in beside the packages, by version. */
  extra: string
  command: string[]
  finish(root: RootFilesystem): Promise<void>
  /** What a registry offers in its place. */
  substitute: string
}

const busybox: Recipe = {
  name: 'busybox',
  version: 1,
  wish: { packages: ['busybox-static'], without: [] },
  extra: '',
  command: ['sh'],
  finish: async () => {},
  substitute: 'busybox:1.37.0',
}

const node: Recipe = {
  name: 'node',
  version: 1,
  wish: {
    packages: ['busybox-static', 'libstdc++6', 'libgcc-s1', 'libc6', 'ca-certificates'],
    without: [
      'debconf',
      'gcc-12-base',
      'gcc-14-base',
      'libssl3',
      'libssl3t64',
      'openssl',
      'perl-base',
      'dpkg',
      'tar',
    ],
  },
  extra: process.version,
  command: ['node'],
  finish: addNode,
  substitute: `node:${process.versions.node}-slim`,
}

/** The names of the images, which are on the engine when this resolves. The first run takes a few seconds. */
export async function baseImages(): Promise<{ busybox: string; node: string }> {
  const engine = await ensureEngine()
  return { busybox: await ensureImage(engine, busybox), node: await ensureImage(engine, node) }
}

async function ensureImage(engine: string, recipe: Recipe): Promise<string> {
  try {
    return await ensureOwnImage(engine, recipe)
  } catch (error) {
    if (!(error instanceof PackagesMissing)) throw error
    return pullSubstitute(engine, recipe, error.message)
  }
}

async function ensureOwnImage(engine: string, recipe: Recipe): Promise<string> {
  const files = await choosePackages(recipe.wish)
  const reference = referenceOf(recipe, files)
  if (await hasImage(engine, reference)) return reference
  return withFileLock(join(cacheDirectory, `image-${recipe.name}.lock`), async () => {
    if (await hasImage(engine, reference)) return reference
    console.error(`Making the base image ${reference} from Debian packages …`)
    await fetchPackages(recipe.wish, files)
    await loadImage(engine, await cook(recipe, files, reference))
    return reference
  })
}

// `localhost/` keeps an engine that misses the image from asking a public registry for it.
function referenceOf(recipe: Recipe, files: string[]): string {
  const inputs = JSON.stringify([recipe.version, recipe.extra, process.arch, files])
  const hash = createHash('sha256').update(inputs).digest('hex').slice(0, 12)
  return `localhost/berth-test/${recipe.name}:${hash}`
}

async function cook(recipe: Recipe, files: string[], reference: string): Promise<Buffer> {
  const root = createRootFilesystem()
  for (const file of files) await root.unpack(await readPackage(file))
  await addApplets(root)
  addAccounts(root)
  await recipe.finish(root)
  const settings: ImageSettings = {
    Env: ['PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    Cmd: recipe.command,
    Labels: { 'berth.test': 'base' },
  }
  return createImageArchive(reference, await root.toTar(), settings)
}

// The static busybox runs here as well as in the image, and knows best which programs it is.
async function addApplets(root: RootFilesystem): Promise<void> {
  const directory = await mkdtemp(join(cacheDirectory, 'busybox-'))
  try {
    const path = join(directory, 'busybox')
    await writeFile(path, root.read('bin/busybox'))
    await chmod(path, 0o755)
    const applets = (await run(path, ['--list-full'])).split('\n').filter((applet) => applet !== '')
    for (const applet of applets) if (!root.has(applet)) root.symlink(applet, '/usr/bin/busybox')
  } finally {
    await rm(directory, { recursive: true })
  }
}

function addAccounts(root: RootFilesystem): void {
  root.file('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n')
  root.file('etc/group', 'root:x:0:\nnogroup:x:65534:\n')
  root.file('etc/nsswitch.conf', 'hosts: files dns\npasswd: files\ngroup: files\n')
}

async function addNode(root: RootFilesystem): Promise<void> {
  root.file('usr/bin/node', await readFile(await realpath(process.execPath)), 0o755)
  const certificates = root.paths('usr/share/ca-certificates').map(root.read)
  root.file('etc/ssl/certs/ca-certificates.crt', Buffer.concat(certificates))
}

async function hasImage(engine: string, reference: string): Promise<boolean> {
  const { status } = await askEngine(engine, `/images/${reference}/json`)
  return status === 200
}

async function loadImage(engine: string, archive: Buffer): Promise<void> {
  const body = { type: 'application/x-tar', bytes: archive }
  const answer = await askEngine(engine, '/images/load?quiet=1', { method: 'POST', body, timeoutMs: 120_000 })
  refuseFailure('the engine could not load the image', answer)
}

async function pullSubstitute(engine: string, recipe: Recipe, reason: string): Promise<string> {
  const reference = recipe.substitute
  if (await hasImage(engine, reference)) return reference
  console.error(`No ${recipe.name} image from Debian packages (${reason}): pulling ${reference} instead …`)
  const path = `/images/create?fromImage=${encodeURIComponent(reference)}`
  const answer = await askEngine(engine, path, { method: 'POST', timeoutMs: 300_000 })
  refuseFailure(`neither packages nor a registry give a ${recipe.name} image`, answer)
  return reference
}

// Loading and pulling answer 200 first and tell of their failure in the stream.
function refuseFailure(what: string, answer: { status: number; text: string }): void {
  if (answer.status === 200 && !answer.text.includes('"error"')) return
  throw new Unprepared(`${what}: ${answer.text.trim()}`)
}
