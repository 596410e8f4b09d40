// Debian's package tool, as far as the tests need it. Lists may be absent (container images ship without
// them) or out of date (a mirror drops old versions): whatever fails is tried again after one update.
import { hasCommand, run } from './command.ts'

const patience = ['-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=2']

export function hasApt(): boolean {
  return hasCommand('apt-get') && hasCommand('dpkg-deb')
}

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

export function apt(args: string[], cwd?: string): Promise<string> {
  return run('apt-get', ['-q', '-y', ...patience, ...args], cwd)
}

/** Installs packages beside what is there; refuses to remove anything for their sake. */
export async function installPackages(names: string[]): Promise<void> {
  const args = ['install', '--no-install-recommends', '--no-remove', ...names]
  await withFreshLists(() => apt(args))
}

export async function withFreshLists<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isRoot()) throw error
    await apt(['update'])
    return await work()
  }
}
