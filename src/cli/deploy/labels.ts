// Formats deploys: the colour of a status, the source, the duration.
import type { Deploy } from '../../api/deploy.ts'
import type { By } from '../../api/parts/fields.ts'
import { quote } from '../../domain/shell-word.ts'
import { duration } from '../../quantities.ts'
import { type Output, plain, type Style } from '../terminal/output.ts'

const statusStyles: Record<string, Style> = {
  queued: 'cyan',
  running: 'cyan',
  live: 'green',
  deactivated: 'dim',
  failed: 'red',
  canceled: 'yellow',
}

const shortShaChars = 7

export function deployStyle({ status }: { status: string }): Style {
  return statusStyles[status] ?? 'dim'
}

/** `4f2c1ab Fix the cart`, `ghcr.io/ada/web:v1`, `upload`, `rollback to dep-…`. */
export function originOf({ commit_sha, commit_message, source, trigger }: Deploy): string {
  const [subject = ''] = commit_message?.split('\n') ?? []
  if (source.kind === 'reuse') return trigger === 'rollback' ? `rollback to ${source.deploy_id}` : trigger
  if (commit_sha) return `${commit_sha.slice(0, shortShaChars)} ${subject}`.trim()
  if (source.kind === 'image') return source.image ?? 'image'
  return source.kind === 'archive' ? 'upload' : (source.commit ?? source.branch ?? 'repository')
}

/** From the request to the outcome; empty before the outcome. */
export function durationOf({ created_at, finished_at }: Deploy): string {
  return finished_at ? duration(Date.parse(finished_at) - Date.parse(created_at)) : ''
}

export function warningLines(
  paint: Output['paint'],
  service: string,
  { warnings }: Pick<Deploy, 'warnings'>,
): string[] {
  const mark = paint('yellow', '!')
  const name = plain(service)
  const cost = paint('dim', '   # one instance, short gaps at deploys')
  return (warnings ?? []).flatMap((warning) => {
    const path = plain(warning.path)
    if (warning.code === 'page_fails')
      return [
        ` ${mark} ${path} answered ${warning.status}, and only the port was checked: berth logs ${name}`,
        `   berth update ${name} --health-path ${quote(path)}   # what fails then does not go live`,
      ]
    if (warning.code === 'data_without_disk')
      return [
        ` ${mark} ${plain(warning.reason ?? '')}; without a disk there, it is lost with each deploy:`,
        `   berth update ${name} --disk ${quote(path)}${cost}`,
      ]
    return [
      ` ${mark} the image keeps data in ${path} (VOLUME), without a disk there:`,
      "   each new instance begins with the image's data, and the old data goes to the trash",
      `   berth update ${name} --disk ${quote(path)}${cost}`,
    ]
  })
}

/** Empty if the server does not know it. */
export function requesterName(by: By | null | undefined): string {
  if (!by) return ''
  if (by.kind === 'session') return 'administrator'
  return by.name ?? by.kind
}

/** `running.building` is `building`; with regions, the state in each of them. */
export function shortState(state: string): string {
  const paths = state.split(' ')
  return paths.map((path) => path.split('.').at(-1)).join(' ')
}
