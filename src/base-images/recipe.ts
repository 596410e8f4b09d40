// An image built from Debian packages and generated files, without a registry. The tag is a hash of the
// input, so an existing image is current.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  cacheDirectory,
  choosePackages,
  fetchPackages,
  type PackageWish,
  readPackage,
} from './debian-packages.ts'
import { withFileLock } from './file-lock.ts'
import { createImageArchive, type ImageSettings } from './image-archive.ts'
import { createRootFilesystem, type RootFilesystem } from './root-filesystem.ts'

export interface Recipe {
  /** `localhost/` prevents an engine without the image from requesting it from a public registry. */
  repository: `localhost/${string}`
  name: string
  /** Incremented when the recipe or the way it is built changes. */
  version: number
  wish: PackageWish
  /** Input other than the packages, identified by a version. */
  extra: string
  settings: ImageSettings
  finish(root: RootFilesystem): Promise<void>
}

/** The part of the engine that imports images. */
export interface ImageStore {
  has(reference: string): Promise<boolean>
  /** Takes the archive that `docker load` reads. */
  load(archive: Buffer): Promise<void>
}

export interface EnsureOptions {
  /** Called before the image is built, which takes a few seconds. */
  onMake(reference: string): void
  signal?: AbortSignal
}

/** The name of the image, which is in the store when this resolves. Throws `PackagesMissing`. */
export async function ensureImage(
  store: ImageStore,
  recipe: Recipe,
  { onMake, signal }: EnsureOptions,
): Promise<string> {
  const files = await choosePackages(recipe.wish, signal)
  const reference = referenceOf(recipe, files)
  if (await store.has(reference)) return reference
  const make = async () => {
    if (await store.has(reference)) return reference
    onMake(reference)
    await fetchPackages(files, recipe.wish, signal)
    await store.load(await cook(recipe, files, reference, signal))
    return reference
  }
  return withFileLock(join(cacheDirectory, `image-${recipe.name}.lock`), make, signal)
}

function referenceOf(recipe: Recipe, files: string[]): string {
  const inputs = JSON.stringify([recipe.version, recipe.extra, process.arch, files])
  const hash = createHash('sha256').update(inputs).digest('hex').slice(0, 12)
  return `${recipe.repository}/${recipe.name}:${hash}`
}

async function cook(
  recipe: Recipe,
  files: string[],
  reference: string,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const root = createRootFilesystem()
  for (const file of files) await root.unpack(await readPackage(file, signal))
  await recipe.finish(root)
  const Labels = { ...recipe.settings.Labels, 'berth.version': versionIn(files, recipe.wish.packages[0]!) }
  return createImageArchive(reference, await root.toTar(), { ...recipe.settings, Labels })
}

/** The version in `haproxy_2.6.12-1+deb12u4_amd64.deb`: the part between name and architecture. */
function versionIn(files: string[], name: string): string {
  const file = files.find((one) => one.startsWith(`${name}_`))
  return decodeURIComponent(file?.split('_')[1] ?? '')
}
