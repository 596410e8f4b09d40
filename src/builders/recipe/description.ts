// What the log of a deploy says of its recipe, before the build begins.
import type { ReleaseRecipe } from '../../../storage/releases.ts'
import { difference, type Recipe } from '../../recipes/index.ts'
import type { BuildJob } from '../builder.ts'

const maxDifference = 60

export function describeRecipe(
  printed: ReleaseRecipe,
  { title, choices, preDeploy, proposals, workers }: Recipe,
  { serviceName, settings, live }: Pick<BuildJob, 'serviceName' | 'settings' | 'live'>,
): string[] {
  const reason = settings.builder === 'recipe' ? '' : 'there is no Dockerfile: '
  return [
    ...describeChange(live?.recipe ?? null, printed),
    `${reason}building by recipe ${printed.version} (${title})`,
    ...choices.map(({ what, reason }) => `${what}: ${reason}`),
    ...(printed.pre_deploy_command !== null && settings.pre_deploy_command === null && preDeploy
      ? [`before the new version starts, this runs in its image: ${preDeploy.command} (${preDeploy.reason})`]
      : []),
    ...proposals.map(
      ({ setting, value, reason }) =>
        `not run by itself: ${value} (${reason}); berth update ${serviceName} ${flagOf(setting)} sets it`,
    ),
    ...workers.map(
      ({ name, command }) => `not started, but could be a service of its own: ${name}: ${command}`,
    ),
  ].map((line) => line.replace(/\p{Cc}/gu, ' '))
}

function describeChange(former: ReleaseRecipe | null, now: ReleaseRecipe): string[] {
  if (former === null) return []
  const lines = [...difference(former.dockerfile, now.dockerfile), ...difference(former.ignore, now.ignore)]
  if (lines.length === 0) return []
  const rest = lines.length - maxDifference
  return [
    'the recipe gives another Dockerfile than that of the live version:',
    ...lines.slice(0, maxDifference),
    ...(rest > 0 ? [`and ${rest} more lines`] : []),
  ]
}

function flagOf(setting: string): string {
  return `--${setting.replaceAll('_', '-')}`
}
