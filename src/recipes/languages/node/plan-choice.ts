// Chooses between the start script, what a framework builds, and a main file.
import { listens } from '../../../domain/service-types.ts'
import { isRefusal, type Refusal, refuse, type Wishes } from '../../recipe.ts'
import { type App, runsTypescript } from './app.ts'
import type { Framework } from './frameworks.ts'
import { hasPackage } from './manifest.ts'
import { isServer, type Plan, publish, type Server, serve } from './plan.ts'
import { findDevelopmentServer, findMain, findObstacle, isDetached, isPageServer, usesBun } from './start.ts'

export function choosePlan(
  app: App,
  framework: Framework | null,
  { type, start, publishDir }: Wishes,
): Plan | Refusal {
  const planned = framework?.plan ?? null
  const usual = planned && !isRefusal(planned) && (isServer(planned) || listens({ type })) ? planned : null
  const pages = usual && !isServer(usual) ? usual : null
  if (publishDir !== null)
    return publish(publishDir, 'publish_dir of the service', { fallback: pages?.fallback ?? false })
  if (type === 'static_site') return pages ?? refuseSite(framework)
  const env = usual && isServer(usual) ? usual.env : {}
  if (start) return serve(start.command, start.reason, { env })
  const script = app.manifest.scripts.start ?? ''
  const obstacle = usual ? null : findObstacle(app.manifest, script)
  if (obstacle) return refuse(obstacle)
  return findScript(app, usual, env) ?? usual ?? findFile(app) ?? planned ?? refuseStart(app)
}

/** Whether it is made to be started or served, rather than used by others. */
export function canStart(app: App, framework: Framework | null, { type }: Wishes): boolean {
  const planned = framework && !isRefusal(framework.plan) ? framework.plan : null
  if (type === 'static_site') return planned !== null && !isServer(planned)
  return planned !== null || findScript(app, null, {}) !== null
}

/** The start script, if it is for production and fits what is built. */
function findScript(
  { manifest, manager }: App,
  planned: Plan | null,
  env: Record<string, string>,
): Server | null {
  const name = ['start', 'start:prod'].find((one) => {
    const script = manifest.scripts[one]
    if (!script || planned?.replaces?.test(script)) return false
    if (isDetached(manifest, script)) return false
    const development = findDevelopmentServer(manifest, script)
    return development === null || (planned === null && isPageServer(development))
  })
  if (name === undefined) return null
  const script = manifest.scripts[name] ?? ''
  const program = usesBun(manifest, script) ? 'bun' : manager.isStrict ? manager.program : 'npm'
  const command = program === 'npm' && name === 'start' ? 'npm start' : `${program} run ${name}`
  return serve(command, `the ${name} script in package.json`, { env })
}

function findFile(app: App): Server | null {
  const isBun = app.manager.name === 'bun'
  // Node.js leaves out types, but fails on enums and all else that is more than a type.
  const hasTsx = hasPackage(app.manifest, 'tsx')
  const main = findMain(app.tree, app.manifest, isBun || hasTsx || runsTypescript(app))
  const program = isBun ? 'bun' : hasTsx && /ts$/.test(main?.file ?? '') ? 'tsx' : 'node'
  return main && serve(`${program} ${main.file}`, main.reason)
}

function refuseStart({ manifest, tree }: App): Refusal {
  const isApp = (path: string) => tree.json(path).projectType === 'application' && !/-e2e\//.test(path)
  const [project] = tree.has('nx.json') ? tree.find(/\/project\.json$/).filter(isApp) : []
  const build = `npx nx build ${project?.split('/').at(-2)}`
  const starts =
    'start_command what is at its outputPath, as in "node dist/main.js", or publish_dir its pages'
  if (project)
    return refuse(`its apps are projects of Nx: build_command must be as "${build}", and ${starts}`)
  const lookedFor = ['index.js', 'server.js']
  const script = manifest.scripts.start
  if (script && isDetached(manifest, script))
    return refuse(
      `what the start script in package.json starts (${script}) goes on in the background, so ` +
        'the instance would end: start it with node',
    )
  const server = script && findDevelopmentServer(manifest, script)
  return server
    ? refuse(`the start script in package.json is a development server (${server}) of no known framework`)
    : refuse('package.json has no start script and no known framework', { lookedFor })
}

function refuseSite(framework: Framework | null): Refusal {
  if (framework === null) return refuse('package.json has no known framework that builds pages')
  return refuse(`${framework.name} builds a server here, and publish_dir names no folder of pages`)
}
