// An image built from Debian packages and generated files, without a registry. The tag is a hash of the
// input, so an existing image is current.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { withFileLock } from '../system/file-lock.ts'
import { createImageArchive, type ImageSettings } from './image-archive.ts'
import { cacheDirectory, choosePackages, type PackageWish, readPackage } from './packages.ts'
import { createRootFilesystem, type RootFilesystem } from './root-filesystem.ts'

export interface Recipe {
  name: string
  wish: PackageWish
  /** Input other than the packages. */
  extra: string
  settings: ImageSettings
  /** `files` are the packages in it. */
  finish(root: RootFilesystem, files: string[]): Promise<void>
}

/** The part of the engine that imports images. */
export interface ImageStore {
  has(reference: string): Promise<boolean>
  /** Takes the archive that `docker load` reads. */
  load(archive: Buffer): Promise<void>
}

/** `localhost/` prevents an engine without the image from requesting it from a public registry. */
export const repository = 'localhost/berth-test'

/** The name of the image, which is in the store when this resolves. Throws `PackagesMissing`. */
export async function ensureImage(store: ImageStore, recipe: Recipe): Promise<string> {
  const files = await choosePackages(recipe.wish)
  const inputs = JSON.stringify([recipe.extra, recipe.settings, process.arch, files])
  const hash = createHash('sha256').update(inputs).digest('hex').slice(0, 12)
  const reference = `${repository}/${recipe.name}:${hash}`
  if (await store.has(reference)) return reference
  await withFileLock(join(cacheDirectory, `image-${recipe.name}.lock`), async () => {
    if (await store.has(reference)) return
    console.error(`Building the image ${reference} from Debian packages …`)
    const root = createRootFilesystem()
    for (const file of files) await root.unpack(await readPackage(file))
    await recipe.finish(root, files)
    await store.load(await createImageArchive(reference, await root.toTar(), recipe.settings))
  })
  return reference
}
