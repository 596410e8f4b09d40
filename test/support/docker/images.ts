// The base images of tests and the demo, built from Debian packages, or pulled where that fails.
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory, PackagesMissing } from '../debian/packages.ts'
import { ensureImage, type ImageStore, type Recipe } from '../debian/recipe.ts'
import type { RootFilesystem } from '../debian/root-filesystem.ts'
import { run } from '../system/command.ts'
import { MissingPrerequisite } from '../system/missing-prerequisite.ts'
import { ensureEngine } from './engine.ts'
import { requestEngine } from './engine-request.ts'

export interface TestRecipe extends Recipe {
  /** The registry image to use instead, or null. */
  substitute: string | null
}

/** Every image of the tests has it. */
export const baseLabel = 'berth.test'

const settings = {
  Env: ['PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  Labels: { [baseLabel]: 'base' },
}

const busybox: TestRecipe = {
  name: 'busybox',
  wish: { packages: ['busybox-static'], without: [] },
  extra: '',
  settings: { ...settings, Cmd: ['sh'] },
  finish: addSystem,
  substitute: 'busybox:1.37.0',
}

const node: TestRecipe = {
  name: 'node',
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
  settings: { ...settings, Cmd: ['node'] },
  async finish(root) {
    await addSystem(root)
    await addNode(root)
  },
  substitute: `node:${process.versions.node}-slim`,
}

/** The image names. Resolves when the images are on the engine; the first run takes a few seconds. */
export async function baseImages(): Promise<{ busybox: string; node: string }> {
  const engine = await ensureEngine()
  return { busybox: await ensureTestImage(engine, busybox), node: await ensureTestImage(engine, node) }
}

/** The image that most tests need. In a namespace without network access the other one cannot be built. */
export async function busyboxImage(): Promise<string> {
  return ensureTestImage(await ensureEngine(), busybox)
}

/** The name of one image. Resolves when it is on the engine. */
export async function ensureTestImage(engine: string, recipe: TestRecipe): Promise<string> {
  const store: ImageStore = {
    has: (reference) => hasImage(engine, reference),
    load: (archive) => loadImage(engine, archive),
  }
  try {
    return await ensureImage(store, recipe)
  } catch (error) {
    if (!(error instanceof PackagesMissing)) throw error
    return pullSubstitute(engine, recipe, error.message)
  }
}

/** Resolves when the image is on the engine, from a context with a Dockerfile. */
export async function ensureImageFrom(
  engine: string,
  reference: string,
  pack: () => Promise<Buffer>,
): Promise<void> {
  if (await hasImage(engine, reference)) return
  console.error(`Building the image ${reference} …`)
  const response = await requestEngine(engine, `/build?t=${encodeURIComponent(reference)}`, {
    method: 'POST',
    body: { type: 'application/x-tar', bytes: await pack() },
    timeoutMs: 300_000,
  })
  refuseFailure(`the engine could not build ${reference}`, response)
}

/** What programs expect: a shell with its tools, and accounts. */
export async function addSystem(root: RootFilesystem): Promise<void> {
  await addApplets(root)
  addAccounts(root)
}

// The static busybox also runs on the host, and lists its own applets.
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
  const { status } = await requestEngine(engine, `/images/${reference}/json`)
  return status === 200
}

async function loadImage(engine: string, archive: Buffer): Promise<void> {
  const body = { type: 'application/x-tar', bytes: archive }
  const response = await requestEngine(engine, '/images/load?quiet=1', {
    method: 'POST',
    body,
    timeoutMs: 120_000,
  })
  refuseFailure('the engine could not load the image', response)
}

async function pullSubstitute(engine: string, recipe: TestRecipe, reason: string): Promise<string> {
  const reference = recipe.substitute
  if (reference === null) throw new MissingPrerequisite(`no ${recipe.name} image: ${reason}`)
  if (await hasImage(engine, reference)) return reference
  console.error(`No ${recipe.name} image from Debian packages (${reason}): pulling ${reference} instead …`)
  const path = `/images/create?fromImage=${encodeURIComponent(reference)}`
  const response = await requestEngine(engine, path, { method: 'POST', timeoutMs: 300_000 })
  refuseFailure(`neither packages nor a registry give a ${recipe.name} image`, response)
  return reference
}

// The engine responds with 200 to load and pull, and reports failures in the stream.
function refuseFailure(what: string, response: { status: number; text: string }): void {
  if (response.status === 200 && !response.text.includes('"error"')) return
  throw new MissingPrerequisite(`${what}: ${response.text.trim()}`)
}
