// The field of a request that the server rejects, as the user typed it: `set.0.value` is a variable, and
// `memory_limit_mb` is --memory.
import { type SettingName, serviceSettings } from '../../domain/service-settings.ts'

/** `path` is the server's, such as `set.0.value`; `body` is what was sent. */
export function fieldName(path: string, body: unknown): string {
  const [field = '', ...below] = path.split('.')
  const [index = ''] = below
  const value = own(body, field)
  if (field === 'set' || field === 'env') return String(own(own(value, index), 'key') ?? path)
  if (field === 'unset' || field === 'custom_domains') return String(own(value, index) ?? path)
  if (field === 'deploy_id' || field === 'backup_id') return String(value ?? path)
  if (field === 'build_args') return ['--build-arg', ...below].join(' ')
  if (field === 'timeout_seconds') return '--timeout'
  const flags = serviceSettings[field as SettingName]?.flag?.flags ?? `--${field.replaceAll('_', '-')}`
  const [flag = field] = flags.split(' ')
  return flag === `--${field}` ? path : flag
}

function own(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? value[key as keyof typeof value]
    : undefined
}
