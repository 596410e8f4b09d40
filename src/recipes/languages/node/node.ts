// Node.js and Bun: servers with a start command, and pages that a framework builds.
import type { Facts } from '../../facts.ts'
import {
  type Choice,
  type Draft,
  isRefusal,
  type Reasoned,
  type Refusal,
  refuse,
  type Wishes,
} from '../../recipe.ts'
import type { Language } from '../language.ts'
import { type App, readApp, runsTypescript } from './app.ts'
import { findBrowser } from './browsers.ts'
import { type Framework, findFramework } from './frameworks.ts'
import { findEarlySource } from './install.ts'
import { findMigration } from './migrations.ts'
import { isServer, type Pages, type Plan, publish, type Server, serve } from './plan.ts'
import { choosePrune } from './prune.ts'
import { buildStage, pagesStage, serverStage, type Work } from './stages.ts'
import { findDevelopmentServer, findMain, findPort, usesBun } from './start.ts'

const usualPort = 3000
const ignore = ['**/node_modules', '**/.next', '**/.pnp.*', '**/.yarn/cache', '**/.yarn/unplugged']

export const node: Language = {
  evidence: ['package.json'],
  isHere: (app) => app.has('package.json'),
  draft,
}

function draft(facts: Facts, wishes: Wishes): Draft | Refusal {
  const app = readApp(facts)
  const framework = findFramework(app)
  const plan = choosePlan(app, framework, wishes)
  if (isRefusal(plan)) return plan
  const build = chooseBuild(app, framework, wishes)
  const work = { app, framework, build, publicKeys: findPublicKeys(framework, wishes) }
  return isServer(plan) ? draftServer(work, plan, wishes) : draftPages(work, plan)
}

function draftServer(work: Work, plan: Server, { type }: Wishes): Draft {
  const { app, framework } = work
  const isBun = usesBun(app.manifest, plan.start)
  const migration = findMigration(app)
  const prune = choosePrune(app, plan, migration)
  const browser = findBrowser(app)
  const listens = type === 'web_service' || type === 'private_service'
  return {
    title: titleOf(isBun ? 'Bun' : 'Node.js', framework),
    choices: [
      ...listChoices(work, isBun),
      ...prune.choices,
      { what: plan.start, reason: plan.reason },
      ...(browser ? [browser.choice] : []),
    ],
    stages: [buildStage(work, isBun, prune.command), serverStage(app, plan, isBun)],
    ignore,
    port: listens ? (findPort(app.manifest, plan.start) ?? usualPort) : null,
    proposals: migration ? [migration] : [],
  }
}

function draftPages(work: Work, { folder, reason, fallback }: Pages): Draft {
  return {
    title: titleOf('Node.js', work.framework),
    choices: [...listChoices(work, false), { what: `the pages in ${folder} are served`, reason }],
    stages: [buildStage(work, false, null), pagesStage(work.app, folder)],
    ignore,
    site: { folder: '/site', fallback },
  }
}

function titleOf(runtime: string, framework: Framework | null): string {
  return framework ? `${runtime} with ${framework.name}` : runtime
}

function listChoices({ app, build, publicKeys }: Work, isBun: boolean): Choice[] {
  const { node, bun, manager } = app
  const isAllBun = isBun && manager.name === 'bun'
  return [
    ...(isAllBun ? [] : [isBun ? { what: `bun ${bun.tag}`, ...bun } : { what: `node ${node.tag}`, ...node }]),
    ...manager.choices,
    ...findEarlySource(app),
    ...(build ? [{ what: build.command, reason: build.reason }] : []),
    ...(publicKeys.length > 0
      ? [
          {
            what: `the build reads ${publicKeys.join(', ')}`,
            reason: 'such variables end up in public pages',
          },
        ]
      : []),
  ]
}

/** They end up in what anyone can read, so the build may see them. */
function findPublicKeys(framework: Framework | null, { env }: Wishes): string[] {
  return env.filter((key) => framework?.prefixes.some((prefix) => key.startsWith(prefix)))
}

function choosePlan(
  app: App,
  framework: Framework | null,
  { type, start, publishDir }: Wishes,
): Plan | Refusal {
  const planned = framework?.plan ?? null
  const usual = planned === null || isRefusal(planned) ? null : planned
  const pages = usual && !isServer(usual) ? usual : null
  if (publishDir !== null)
    return publish(publishDir, 'publish_dir of the service', { fallback: pages?.fallback ?? false })
  if (type === 'static_site') return pages ?? refuseSite(framework)
  const env = usual && isServer(usual) ? usual.env : {}
  if (start) return serve(start.command, start.reason, { env })
  return findScript(app, usual, env) ?? usual ?? findFile(app) ?? planned ?? refuseStart(app)
}

/** The start script, if it is for production and fits what is built. */
function findScript(
  { manifest, manager }: App,
  planned: Plan | null,
  env: Record<string, string>,
): Server | null {
  const name = ['start', 'start:prod'].find((one) => {
    const script = manifest.scripts[one]
    const fits = script && !findDevelopmentServer(manifest, script) && !planned?.replaces?.test(script)
    return fits
  })
  if (name === undefined) return null
  const program = usesBun(manifest, manifest.scripts[name] ?? '')
    ? 'bun'
    : manager.isStrict
      ? manager.program
      : 'npm'
  const command = program === 'npm' && name === 'start' ? 'npm start' : `${program} run ${name}`
  return serve(command, `the ${name} script in package.json`, { env })
}

function findFile(app: App): Server | null {
  const isBun = app.manager.name === 'bun'
  const main = findMain(app.tree, app.manifest, isBun || runsTypescript(app))
  return main && serve(`${isBun ? 'bun' : 'node'} ${main.file}`, main.reason)
}

function refuseStart({ manifest }: App): Refusal {
  const script = manifest.scripts.start
  const server = script && findDevelopmentServer(manifest, script)
  return server
    ? refuse(`the start script in package.json is a development server (${server}) of no known framework`)
    : refuse('package.json has no start script and no known framework', {
        lookedFor: ['index.js', 'server.js'],
      })
}

function refuseSite(framework: Framework | null): Refusal {
  if (framework === null) return refuse('package.json has no known framework that builds pages')
  return refuse(`${framework.name} builds a server here, and publish_dir names no folder of pages`)
}

function chooseBuild(
  { manifest: { scripts }, manager }: App,
  framework: Framework | null,
  wishes: Wishes,
): Reasoned | null {
  if (wishes.build) return wishes.build
  const name = ['build', 'docs:build'].find((script) => scripts[script])
  if (name) return { command: `${manager.program} run ${name}`, reason: `the ${name} script in package.json` }
  return framework && { command: `npx ${framework.build}`, reason: `${framework.name} is a dependency` }
}
