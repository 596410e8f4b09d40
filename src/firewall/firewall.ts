// Applies the rules of the private network to the kernel, and checks that they are still there.
// Needs CAP_NET_ADMIN, nft and ip in the network namespace of the Docker engine.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter } from 'node:path'
import { type RuleSet, rulesText } from './rules.ts'

export interface Firewall {
  /** Replaces all rules in one transaction. Rejects with the reason of the kernel. */
  apply(rules: RuleSet): Promise<void>
  /** Whether the kernel still has the rules of the last `apply`, and filters the bridge with them. */
  isInForce(): Promise<boolean>
}

const limitMs = 30_000
const bridgeFilter = '/proc/sys/net/bridge'
const searchPath = [process.env.PATH ?? '', '/usr/sbin', '/sbin'].join(delimiter)

export function openFirewall(): Firewall {
  let applied: { table: string; bridge: string; text: string } | null = null
  return {
    async apply(rules) {
      const { table, bridge } = rules
      await filterBridge(bridge)
      await run('nft', ['-f', '-'], rulesText(rules))
      applied = { table, bridge, text: await listed(table) }
    },
    async isInForce() {
      if (applied === null) return false
      const { table, bridge, text } = applied
      const ruleset = await listed(table).catch(() => null)
      return ruleset === text && (await isFiltered(bridge))
    },
  }
}

/** The table without the elements of its sets, which can be many. */
function listed(table: string): Promise<string> {
  return run('nft', ['--terse', 'list', 'table', 'inet', table])
}

/** Without this, packets between two containers of a bridge pass no rule for IP at all. */
async function filterBridge(bridge: string): Promise<void> {
  if (!existsSync(bridgeFilter)) {
    await run('modprobe', ['br_netfilter']).catch(() => {
      throw new Error('the kernel module br_netfilter is not loaded, and cannot be: modprobe br_netfilter')
    })
  }
  const flags = ['nf_call_iptables', '1', 'nf_call_ip6tables', '1']
  await run('ip', ['link', 'set', 'dev', bridge, 'type', 'bridge', ...flags])
}

async function isFiltered(bridge: string): Promise<boolean> {
  const text = await run('ip', ['-details', '-json', 'link', 'show', 'dev', bridge]).catch(() => '')
  return /"nf_call_iptables":1\b/.test(text) && /"nf_call_ip6tables":1\b/.test(text)
}

/** Rejects with the reason as one line for an operator. */
function run(program: string, args: string[], input = ''): Promise<string> {
  const env = { ...process.env, PATH: searchPath, LC_ALL: 'C' }
  const options = { env, timeout: limitMs, maxBuffer: 64 * 1024 * 1024 }
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      reject(new Error(reasonOf(program, error, stderr)))
    })
    // A program that exits without reading its input gives the reason on its standard error.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}

function reasonOf(program: string, error: Error & { code?: unknown }, stderr: string): string {
  if (error.code === 'ENOENT') return `${program} is not installed`
  const [line] = stderr.trim().split('\n')
  if (/Operation not permitted/.test(stderr)) return `${program} needs root, or CAP_NET_ADMIN`
  return `${program} failed: ${line || error.message}`
}
