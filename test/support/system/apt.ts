// Debian's package tool. It installs programs that tests need, and never removes or replaces a package.
import { type CommandOptions, hasCommand, run } from './command.ts'

const retryOptions = ['-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=2']

export function hasApt(): boolean {
  return hasCommand('apt-get') && hasCommand('dpkg-deb')
}

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

export function apt(args: string[], options: CommandOptions = {}): Promise<string> {
  return run('apt-get', ['-q', '-y', ...retryOptions, ...args], options)
}

/** The lists of this host may be old, or missing: container images come without them. */
export async function installPackages(names: string[]): Promise<void> {
  const install = () => apt(['install', '--no-install-recommends', '--no-remove', ...names])
  await install().catch(async (error: unknown) => {
    if (!isRoot()) throw error
    await apt(['update'])
    await install()
  })
}
