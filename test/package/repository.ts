// A copy of what a package is made of, built. The `dist` of the repository stays as other tests need it.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile, product } from '../support/daemon/compile.ts'
import { ensureDashboard } from '../support/dashboard/build.ts'

const home = fileURLToPath(new URL('../..', import.meta.url))
/** What npm packs whatever `files` of package.json lists. */
export const papers = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']

export async function copyRepository(directory: string): Promise<void> {
  await ensureDashboard()
  for (const name of [...papers, ...product, 'docs', 'systemd', 'package-lock.json', 'dist/dashboard'])
    cpSync(join(home, name), join(directory, name), { recursive: true })
  await compile(directory, product)
}
