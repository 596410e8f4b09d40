// The folder of a source that a build is about, and the one for what Berth generates.
import { mkdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../errors.ts'
import { resolveInside } from '../sources/source-path.ts'
import type { BuildJob } from './builder.ts'

/** The folder that `root_dir` names. Throws `source_not_found` if it is missing or outside of the source. */
export async function resolveRoot({ checkout, settings: { root_dir } }: BuildJob): Promise<string> {
  const root = await resolveInside(checkout, root_dir ?? '.', 'the root dir')
  if ((await stat(root)).isDirectory()) return root
  throw new Failure('source_not_found', `the root dir ${root_dir} is not a folder`)
}

/** Outside of the checkout: no file of the source can interfere. */
export async function createGeneratedDirectory(job: BuildJob): Promise<string> {
  const directory = join(job.directory, 'generated')
  await mkdir(directory, { recursive: true })
  return realpath(directory)
}
