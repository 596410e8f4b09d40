// The Docker engine: whether it answers, and what is known to go wrong with this version and its settings.
import { readFile } from 'node:fs/promises'
import { withSignal } from '../docker/engine/client.ts'
import { messageOf } from '../errors.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

/** The API versions that src/docker/ was written against. */
const oldestApi = 41
const newestApi = 47
const answerMs = 5_000

interface EngineFacts {
  ServerVersion: string
  Driver: string
  CgroupVersion?: string
  CgroupDriver?: string
  LiveRestoreEnabled?: boolean
  MemoryLimit?: boolean
  SwapLimit?: boolean
  PidsLimit?: boolean
}

export async function checkDocker({ engine }: Examined, signal: AbortSignal): Promise<Finding[] | string> {
  const { call, docker, host } = engine
  const options = { timeoutMs: answerMs, signal }
  try {
    const info = (await call(
      'info',
      (bound) => withSignal(docker, docker.info, bound),
      options,
    )) as EngineFacts
    const version = await call('version', (bound) => withSignal(docker, docker.version, bound), options)
    const config = host.startsWith('unix:') ? await daemonConfig() : {}
    const faults = [...faultsOf(info, version), ...faultsOfConfig(config)]
    const proxy = config.settings?.['userland-proxy'] === false ? 'off' : 'on'
    const groups = `control groups v${info.CgroupVersion ?? 1} (${info.CgroupDriver})`
    const facts = `Docker ${info.ServerVersion}, API ${version.ApiVersion}, ${info.Driver}, ${groups}`
    return faults.length > 0 ? faults : `${facts}, userland proxy ${proxy}`
  } catch (error) {
    signal.throwIfAborted()
    const reason = messageOf(error)
    const user = process.getuid?.() ?? 0
    return [
      finding(/EACCES|EPERM/.test(reason) ? 'docker_forbidden' : 'docker_unreachable', { reason, user }),
    ]
  }
}

function faultsOf(
  info: EngineFacts,
  { ApiVersion, MinAPIVersion = '1.12' }: { ApiVersion: string; MinAPIVersion?: string },
) {
  const version = info.ServerVersion
  const minor = (text = '') => Number(text.split('.')[1])
  const isUnknown = minor(ApiVersion) < oldestApi || minor(MinAPIVersion) > newestApi
  const missing = [
    ...(info.MemoryLimit === false ? ['memory'] : []),
    ...(info.SwapLimit === false ? ['swap'] : []),
    ...(info.PidsLimit === false ? ['processes'] : []),
  ]
  const apis = `${MinAPIVersion} to ${ApiVersion}`
  return [
    ...(isUnknown ? [finding('docker_api_unknown', { version, apis })] : []),
    ...(Number.parseInt(version, 10) < 23 ? [finding('docker_outdated', { version })] : []),
    ...(info.Driver === 'vfs' ? [finding('docker_storage_vfs')] : []),
    ...(info.CgroupVersion === '1' ? [finding('cgroups_v1')] : []),
    ...(missing.length > 0 ? [finding('cgroup_limits_missing', { limits: missing.join(', ') })] : []),
    ...(info.LiveRestoreEnabled === false ? [finding('docker_live_restore_off')] : []),
  ]
}

interface DaemonConfig {
  settings?: Record<string, unknown>
  error?: string
}

const configPath = '/etc/docker/daemon.json'

async function daemonConfig(): Promise<DaemonConfig> {
  const text = await readFile(configPath, 'utf8').catch(() => '{}')
  try {
    return { settings: JSON.parse(text) }
  } catch (error) {
    return { error: messageOf(error) }
  }
}

function faultsOfConfig({ error }: DaemonConfig): Finding[] {
  return error === undefined ? [] : [finding('docker_config_invalid', { path: configPath, reason: error })]
}
