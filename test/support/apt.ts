// What the tests install on this machine: beside what is there, and nothing is removed for its sake.
import { apt, withFreshLists } from '../../src/base-images/apt.ts'

export async function installPackages(names: string[]): Promise<void> {
  const args = ['install', '--no-install-recommends', '--no-remove', ...names]
  await withFreshLists(() => apt(args))
}
