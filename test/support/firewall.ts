// The packet filter that a daemon under test applies: what it needs on this machine, and removing its rules.
import { hasApt, isRoot } from '../../src/base-images/apt.ts'
import { hasCommand, run } from '../../src/base-images/command.ts'
import { withFileLock } from '../../src/base-images/file-lock.ts'
import { tableOf } from '../../src/firewall/rules.ts'
import { installPackages } from './apt.ts'

/** Why services cannot be isolated here; null when they can. */
export async function whyNoFirewall(): Promise<string | null> {
  if (!isRoot()) return 'needs root'
  await ensureFirewall()
  return hasCommand('nft') && hasCommand('ip')
    ? null
    : 'needs nft and ip, and there is no apt to install them'
}

/** Installs what is missing where that is possible; without it a daemon warns and runs on. */
export async function ensureFirewall(): Promise<void> {
  const isMissing = () => ['nft', 'ip'].some((program) => !hasCommand(program))
  if (!isMissing() || !isRoot() || !hasApt()) return
  await withFileLock('/run/berth-test-firewall.lock', async () => {
    if (isMissing()) await installPackages(['nftables', 'iproute2'])
  })
}

/** A missing table is fine. */
export async function removeRules(prefix: string): Promise<void> {
  await run('nft', ['delete', 'table', 'inet', tableOf(prefix)]).catch(() => undefined)
}

/** The rules of a server in the kernel; null when there are none. */
export function listRules(prefix: string): Promise<string | null> {
  return run('nft', ['list', 'table', 'inet', tableOf(prefix)]).catch(() => null)
}
