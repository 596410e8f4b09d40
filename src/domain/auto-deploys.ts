// The rules of automatic deploys: when a service has them, and which commits it deploys.
import { isDeepStrictEqual } from 'node:util'
import type { AutoDeployObstacle, AutoDeployPlan } from '../../machines/auto-deploy.ts'
import type { ServiceRow } from '../../storage/services.ts'

export const defaultPollSeconds = 300

/** The id of a service's automatic deploys: each service has one actor for them. */
export function autoDeployIdOf(serviceId: string): string {
  return `aut-${serviceId.slice(serviceId.indexOf('-') + 1)}`
}

type PlannedService = Pick<
  ServiceRow,
  | 'auto_deploy'
  | 'auto_deploy_paused_by'
  | 'branch'
  | 'deleting'
  | 'deploy_when'
  | 'image'
  | 'poll_seconds'
  | 'repo_url'
  | 'suspended'
  | 'tag_pattern'
>

/** Null if the service is deleted or being deleted. */
export function planOf(service: PlannedService | null): AutoDeployPlan | null {
  if (!service || service.deleting) return null
  const { poll_seconds: pollSeconds = defaultPollSeconds } = service
  const when = service.repo_url === null ? 'push' : (service.deploy_when ?? 'push')
  return {
    source: sourceTextOf(service),
    pollSeconds,
    obstacle: obstacleOf(service),
    waitsForChecks: when !== 'push',
    needsChecks: when === 'required_checks',
  }
}

/** Whether its row is from before automatic deploys, and no user has set them since. */
export function isUndecided(service: PlannedService): boolean {
  return service.repo_url !== null && !service.auto_deploy && service.poll_seconds === undefined
}

/** Whether the present plan is the former one, of a repository that was renamed since. */
export function isRenamed({ renamed, ...service }: ServiceRow, former: AutoDeployPlan): boolean {
  return renamed !== undefined && sourceTextOf({ ...service, repo_url: renamed.from }) === former.source
}

export function isSamePlan(one: AutoDeployPlan, other: AutoDeployPlan): boolean {
  return isDeepStrictEqual(one, other)
}

function sourceTextOf({ repo_url, branch, tag_pattern, image }: PlannedService): string {
  if (image !== null) return image
  if (repo_url === null) return ''
  return tag_pattern ? `${repo_url} tags ${tag_pattern}` : `${repo_url} ${branch ?? ''}`.trimEnd()
}

function obstacleOf(service: PlannedService): AutoDeployObstacle | null {
  if (!service.auto_deploy || !canChange(service)) return 'off'
  if (service.suspended) return 'suspended'
  return service.auto_deploy_paused_by ? 'rolled_back' : null
}

/** An upload never changes by itself, and an image with a digest never changes at all. */
function canChange({ repo_url, image }: Pick<ServiceRow, 'repo_url' | 'image'>): boolean {
  return repo_url !== null || (image !== null && !image.includes('@'))
}

/** What stands against automatic deploys, and what removes it. */
export function obstacleText(
  service: PlannedService & { name: string },
  obstacle: AutoDeployObstacle,
): string {
  const { name, auto_deploy, auto_deploy_paused_by: rollback, image, repo_url } = service
  const remedy = `berth update ${name} --auto-deploy on`
  if (obstacle === 'suspended') return `${name} is suspended`
  if (obstacle === 'rolled_back') return `${rollback} rolled ${name} back; ${remedy} resumes it`
  if (!auto_deploy) return `${remedy} deploys each push`
  if (repo_url === null && image === null) return 'it has neither a repository nor an image'
  return 'an image with a digest never changes'
}

/** Whether the author of a commit asks for no deploy, or for no run of any CI if that counts too. */
export function asksForNoDeploy(message: string, obeysSkipCi: boolean): boolean {
  const isAsked = /\[(?:skip deploy|deploy skip)\]/i.test(message)
  return isAsked || (obeysSkipCi && /\[(?:skip ci|ci skip|no ci)\]/i.test(message))
}

/** What is wrong with a pattern of tags; null if it can be used. */
export function tagPatternProblem(pattern: string): string | null {
  if (pattern.includes(',')) return 'has a comma: there is one pattern, such as v*'
  if (!/^[\p{L}\p{N}._+@/*?!-]+$/u.test(pattern)) return 'is not a pattern of tags, such as v* or api-v*'
  const starCount = pattern.split('*').length - 1
  return starCount > maxTagStars ? `has more than ${maxTagStars} times *` : null
}

/** Each additional `*` multiplies the number of ways to match a tag. */
const maxTagStars = 3

/** What is wrong with a pattern; null if it can be used. */
export function patternProblem(pattern: string): string | null {
  if (pattern.includes(',')) return 'has a comma: each path is an item of its own, as in ["api/**", "lib/**"]'
  if (/[\p{Cc}\\]/u.test(pattern)) return 'has a control character or a backslash'
  if (/^!?\.{1,2}\//.test(pattern))
    return 'must begin at the top of the repository, as in "api/**", without ./'
  if (pattern.includes('//')) return 'has an empty name between two slashes'
  if (/\[:|\[[^\]]*$/.test(pattern)) return 'has a [ without its ], or a class such as [:alpha:]'
  const isBlank = pattern.trim() !== pattern || /^[!#]?$/.test(pattern)
  if (isBlank || pattern.startsWith('#')) return 'is empty, a comment, or has blanks around it'
  return null
}
