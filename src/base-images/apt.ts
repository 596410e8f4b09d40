// Debian's package tool. Lists may be absent (container images ship without them) or out of date (a mirror
// drops old versions): whatever fails is tried again after one update, which only root can make.
import { type CommandOptions, hasCommand, run } from './command.ts'

const patience = ['-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=2']

export function hasApt(): boolean {
  return hasCommand('apt-get') && hasCommand('dpkg-deb')
}

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

export function apt(args: string[], options: CommandOptions = {}): Promise<string> {
  return run('apt-get', ['-q', '-y', ...patience, ...args], options)
}

export async function withFreshLists<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work()
  } catch (error) {
    signal?.throwIfAborted()
    if (!isRoot()) throw error
    await apt(['update'], { signal })
    return await work()
  }
}
