// The packet filter that isolates services, and other firewalls of the host.
import { execFile } from 'node:child_process'
import { access, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { messageOf } from '../errors.ts'
import { tableOf } from '../firewall/rules.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

export async function checkFirewall(examined: Examined, signal: AbortSignal): Promise<Finding[] | string> {
  const { config, live, pid } = examined
  const table = tableOf(config.prefix)
  const reason = live ? live.isolationReason : pid === null ? null : await missingTable(table, signal)
  const forwarding = await read('/proc/sys/net/ipv4/ip_forward')
  const isUfwOn = /^ENABLED=yes/m.test(await read('/etc/ufw/ufw.conf'))
  const found = [
    ...(reason === null ? [] : [finding(codeOf(reason), { reason })]),
    ...(forwarding.trim() === '0' ? [finding('ip_forward_off')] : []),
    ...(isUfwOn ? [finding('ufw_bypassed')] : []),
    ...((await exists('/run/firewalld.pid')) ? [finding('firewalld_bypassed')] : []),
  ]
  return found.length > 0 ? found : `table ${table}, ip_forward on`
}

async function missingTable(table: string, signal: AbortSignal): Promise<string | null> {
  if (!(await exists('/proc/sys/net/bridge'))) return 'the kernel module br_netfilter is not loaded'
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin`, LC_ALL: 'C' }
  const asking = promisify(execFile)('nft', ['--terse', 'list', 'table', 'inet', table], { env, signal })
  return asking.then(
    () => null,
    (error: unknown) => {
      signal.throwIfAborted()
      const reason = messageOf(error)
      if (/ENOENT/.test(reason)) return 'nft is not installed'
      // Other users than root cannot see the rules.
      return /not permitted/.test(reason) && process.getuid?.() !== 0
        ? null
        : `there is no table inet ${table}`
    },
  )
}

function codeOf(reason: string): string {
  if (/not installed/.test(reason)) return 'nft_missing'
  if (/br_netfilter/.test(reason)) return 'br_netfilter_missing'
  return /CAP_NET_ADMIN/.test(reason) ? 'net_admin_missing' : 'isolation_off'
}

const read = (path: string) => readFile(path, 'utf8').catch(() => '')
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
