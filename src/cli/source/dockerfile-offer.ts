// The Dockerfile that `berth up` suggests for a folder without one, and writes if the user agrees.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findDockerfiles } from '../../domain/dockerfiles.ts'
import { suggestDockerfile } from '../../domain/starter-dockerfile.ts'
import type { Cli } from '../client/session.ts'
import { plain } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'

/** Shows the Dockerfile; returns whether it was written. */
export async function offerDockerfile(cli: Cli, folder: string): Promise<boolean> {
  const { out } = cli
  if (out.isJson) return false
  const { kind, dockerfile, notes } = await suggestDockerfile(folder)
  if (dockerfile.length === 0 || (await findDockerfiles(folder)).length > 0) return false
  out.say(`   there is no Dockerfile. This looks like ${kind}; here is one to start from:`)
  for (const line of dockerfile) out.say(plain(`     ${line}`))
  for (const note of notes) out.say(plain(`   ${note}`))
  if (!out.canAsk) return false
  const path = join(folder, 'Dockerfile')
  const message = plain(`Write it to ${path} and deploy?`)
  if (!(await confirm(cli, { message, instead: 'write one yourself' }, true))) return false
  await writeFile(path, `${dockerfile.join('\n')}\n`, { flag: 'wx' })
  return true
}
