// The prerequisites of the daemon's packet filter on this machine, and the removal of its rules.

import { tableOf } from '../../../src/firewall/rules.ts'
import { hasApt, installPackages, isRoot } from './apt.ts'
import { hasCommand, run } from './command.ts'
import { withFileLock } from './file-lock.ts'

/** The reason why services cannot be isolated here, or null. */
export async function whyNoFirewall(): Promise<string | null> {
  if (!isRoot()) return 'needs root'
  await ensureFirewall()
  return hasCommand('nft') && hasCommand('ip')
    ? null
    : 'needs nft and ip, and there is no apt to install them'
}

/** Installs missing tools where possible; without them, a daemon logs a warning and continues. */
export async function ensureFirewall(): Promise<void> {
  const isMissing = () => ['nft', 'ip'].some((program) => !hasCommand(program))
  if (!isMissing() || !isRoot() || !hasApt()) return
  await withFileLock('/run/berth-test-firewall.lock', async () => {
    if (isMissing()) await installPackages(['nftables', 'iproute2'])
  })
}

/** Ignores a missing table. */
export async function removeRules(prefix: string): Promise<void> {
  await run('nft', ['delete', 'table', 'inet', tableOf(prefix)]).catch(() => undefined)
}

/** The kernel's rules of a server, or null. */
export function listRules(prefix: string): Promise<string | null> {
  return run('nft', ['list', 'table', 'inet', tableOf(prefix)]).catch(() => null)
}
