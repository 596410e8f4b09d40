// Copies of the example apps in test/fixtures/apps, for tests and the demo to change.
// The originals name a public base image so that users can run them; a copy names the test base image.
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const appsDirectory = fileURLToPath(new URL('../../fixtures/apps', import.meta.url))

interface AppOptions {
  /** The Node image for its Dockerfile: `(await baseImages()).node`. */
  node: string
  /** Shown by the page in large letters; `v1` by default. */
  version?: string
}

/** Copies an example app into `directory`, which is created if it is missing. */
export async function copyApp(name: 'hello', directory: string, options: AppOptions): Promise<void> {
  await cp(join(appsDirectory, name), directory, { recursive: true })
  const dockerfile = join(directory, 'Dockerfile')
  const text = await readFile(dockerfile, 'utf8')
  await writeFile(dockerfile, text.replace(/^ARG NODE_IMAGE=.*$/m, `ARG NODE_IMAGE=${options.node}`))
  if (options.version) await writeFile(join(directory, 'version.txt'), `${options.version}\n`)
}
