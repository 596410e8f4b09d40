// Packages of the npm registry as files of an image. They stay in the cache of the tests.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { cacheDirectory, PackagesMissing } from '../debian/packages.ts'
import type { RootFilesystem } from '../debian/root-filesystem.ts'
import { run } from '../system/command.ts'

const directory = join(cacheDirectory, 'npm')

/** Puts the files of a package such as `npm@10.9.9` into a folder of the image. */
export async function unpackNpm(root: RootFilesystem, name: string, folder: string): Promise<void> {
  const tar = await promisify(gunzip)(await readFile(await download(name)))
  await root.unpack(tar, (path) => path.replace(/^[^/]+/, folder))
}

async function download(name: string): Promise<string> {
  const path = join(directory, `${encodeURIComponent(name)}.tgz`)
  if (existsSync(path)) return path
  await mkdir(directory, { recursive: true })
  const arrival = await mkdtemp(join(directory, 'arriving-'))
  try {
    await run('npm', ['pack', '--silent', '--pack-destination', arrival, name])
    const [file = ''] = await readdir(arrival)
    await rename(join(arrival, file), path)
    return path
  } catch (error) {
    throw new PackagesMissing(`there is no npm package ${name} here (${error})`)
  } finally {
    await rm(arrival, { recursive: true })
  }
}
