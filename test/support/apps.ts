// The example apps of test/fixtures/apps, copied to where a test or the demo may change them. Their
// Dockerfiles name a public image, for people who try them by hand; a copy names our base image.
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const appsDirectory = fileURLToPath(new URL('../fixtures/apps', import.meta.url))

export interface AppOptions {
  /** The Node image that its Dockerfile builds on: `(await baseImages()).node`. */
  node: string
  /** What the page shows in large letters; `v1` when left out. */
  version?: string
}

/** Copies an example app into `directory`, which is made when it is missing. */
export async function copyApp(name: 'hello', directory: string, options: AppOptions): Promise<void> {
  await cp(join(appsDirectory, name), directory, { recursive: true })
  const dockerfile = join(directory, 'Dockerfile')
  const text = await readFile(dockerfile, 'utf8')
  await writeFile(dockerfile, text.replace(/^ARG NODE_IMAGE=.*$/m, `ARG NODE_IMAGE=${options.node}`))
  if (options.version) await writeFile(join(directory, 'version.txt'), `${options.version}\n`)
}
