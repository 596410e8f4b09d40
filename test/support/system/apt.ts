// Installs packages that tests need. Never removes or replaces a package.
import { apt, withFreshLists } from '../../../src/base-images/apt.ts'

export async function installPackages(names: string[]): Promise<void> {
  const args = ['install', '--no-install-recommends', '--no-remove', ...names]
  await withFreshLists(() => apt(args))
}
