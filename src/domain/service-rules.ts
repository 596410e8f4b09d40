// Rules of several settings of a service, and of its type.
import { posix } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ServiceRow } from '../../storage/services.ts'
import { patternProblem, tagPatternProblem } from './auto-deploys.ts'
import { customDomainLimit } from './domains.ts'
import { type SettingName, serviceSettings, settingNames } from './service-settings.ts'

export type RuledService = Pick<ServiceRow, SettingName | 'type'>

export function ruleViolations(row: RuledService): { path: SettingName; message: string }[] {
  const found: ReturnType<typeof ruleViolations> = []
  const violate = (path: SettingName, message: string) => found.push({ path, message })
  for (const name of settingNames) {
    const { default: unset, refusal } = serviceSettings[name]
    const reason = refusal?.(row.type) ?? null
    if (reason !== null && !isDeepStrictEqual(row[name], unset)) violate(name, reason)
  }
  if (row.type === 'cron_job') {
    if (row.schedule === null) violate('schedule', 'is required: a cron job has one')
    if (row.instances !== 1) violate('instances', 'a cron job has exactly one')
  }
  if (row.repo_url !== null && row.image !== null) {
    violate('image', 'a service has a repository or an image, not both')
  }
  const pattern = row.watch_paths.find((one) => patternProblem(one) !== null)
  if (pattern !== undefined) violate('watch_paths', `'${pattern}' ${patternProblem(pattern)}`)
  else if (row.watch_paths.length > 0 && row.watch_paths.every((one) => one.startsWith('!'))) {
    violate('watch_paths', 'needs a path without !, such as "**"')
  }
  const tagProblem = row.tag_pattern ? tagPatternProblem(row.tag_pattern) : null
  if (tagProblem !== null) violate('tag_pattern', `'${row.tag_pattern}' ${tagProblem}`)
  if (row.custom_domains.length > customDomainLimit) {
    violate('custom_domains', `a service has at most ${customDomainLimit} domains`)
  }
  if (row.disk_mount_path !== null && row.instances > 1) {
    violate('instances', 'a service with a disk has exactly one instance')
  }
  if (row.root_dir !== null && escapesRoot(row.root_dir)) violate('root_dir', 'must not leave the repository')
  if (row.dockerfile_path !== null && escapesRoot(posix.join(row.root_dir ?? '', row.dockerfile_path))) {
    violate('dockerfile_path', 'must not leave the repository')
  }
  return found
}

function escapesRoot(path: string): boolean {
  return posix.normalize(path).split('/')[0] === '..'
}
