// Node.js and Bun: servers with a start command, and pages that a framework builds.
import { posix } from 'node:path'
import { listens } from '../../../domain/service-types.ts'
import type { Facts } from '../../facts.ts'
import { type Choice, type Draft, isRefusal, type Refusal, refuse, type Wishes } from '../../recipe.ts'
import type { Language } from '../language.ts'
import { readApp } from './app.ts'
import { findBrowser } from './browsers.ts'
import { chooseBuild } from './build-command.ts'
import { type Framework, findFramework } from './frameworks.ts'
import { findEarlySource } from './install.ts'
import { findMigration } from './migrations.ts'
import { isServer, type Pages, type Server } from './plan.ts'
import { canStart, choosePlan } from './plan-choice.ts'
import { choosePrune } from './prune.ts'
import { buildStage, pagesStage, serverStage, type Work } from './stages.ts'
import { findPort, usesBun } from './start.ts'
import { findWorkspace, listNeeded, type Workspace } from './workspace.ts'

const usualPort = 3000
const ignore = ['**/node_modules', '**/.next', '**/.pnp.*', '**/.yarn/cache', '**/.yarn/unplugged']

export const node: Language = {
  evidence: ['package.json'],
  isHere: (app) => app.has('package.json'),
  draft,
}

/** An app of another language, next to the packages. */
const otherApp = /^(api|backend|server)\/(requirements\.txt|pyproject\.toml|go\.mod|Gemfile|pom\.xml)$/

function draft(facts: Facts, wishes: Wishes): Draft | Refusal {
  const workspace = findWorkspace(facts)
  const folder = chooseFolder(workspace, facts.rootDir, wishes)
  if (typeof folder !== 'string') return folder
  const app = readApp(workspace, folder)
  const framework = findFramework(app)
  const plan = choosePlan(app, framework, wishes)
  if (isRefusal(plan)) return plan
  const build = chooseBuild(app, framework, wishes)
  const work = { app, framework, build, publicKeys: findPublicKeys(framework, wishes) }
  const drafted = isServer(plan) ? draftServer(work, plan, wishes) : draftPages(work, plan)
  const needed = [folder, ...listNeeded(workspace, folder)]
  const others = [...workspace.members.keys()].filter((member) => !needed.includes(member))
  return { ...drafted, context: workspace.folder, ignore, others }
}

/** The top of a workspace starts if it is made for that; else the only package that is. */
function chooseFolder(workspace: Workspace, rootDir: string, wishes: Wishes): string | Refusal {
  const folder = posix.relative(workspace.folder, rootDir)
  const isNamed = folder !== '' || wishes.start || wishes.publishDir !== null
  if (isNamed || starts('')) return folder
  const [only = '', ...others] = [...workspace.members.keys()].filter(starts)
  const more = workspace.tree.find(otherApp).map((path) => posix.dirname(path))
  if (only === '' || others.length + more.length === 0) return only
  const apps = [only, ...others, ...more].map((app) => posix.join(workspace.folder, app))
  return refuse('several folders of it are apps', { apps })

  function starts(member: string): boolean {
    const app = readApp(workspace, member)
    // Nx keeps what all packages need at the top.
    const framework = member === '' && app.tree.has('nx.json') ? null : findFramework(app)
    return canStart(app, framework, wishes)
  }
}

function draftServer(work: Work, plan: Server, { type }: Wishes): Draft {
  const { app, framework } = work
  const isBun = usesBun(app.manifest, plan.start)
  const migration = findMigration(app)
  const prune = choosePrune(app, plan, migration)
  const browser = findBrowser(app)
  return {
    title: titleOf(isBun ? 'Bun' : 'Node.js', framework),
    choices: [
      ...listChoices(work, isBun),
      ...prune.choices,
      { what: plan.start, reason: plan.reason },
      ...(browser ? [browser.choice] : []),
    ],
    stages: [buildStage(work, isBun, prune.command), serverStage(app, plan, isBun)],
    port: listens({ type }) ? (findPort(app.manifest, plan.start) ?? usualPort) : null,
    proposals: migration ? [migration.proposal] : [],
  }
}

function draftPages(work: Work, { folder, reason, fallback }: Pages): Draft {
  return {
    title: titleOf('Node.js', work.framework),
    choices: [...listChoices(work, false), { what: `the pages in ${folder} are served`, reason }],
    stages: [buildStage(work, false, null), pagesStage(work.app, folder)],
    site: { folder: '/site', fallback },
  }
}

function titleOf(runtime: string, framework: Framework | null): string {
  return framework ? `${runtime} with ${framework.name}` : runtime
}

function listChoices({ app, build, publicKeys }: Work, isBun: boolean): Choice[] {
  const { node, bun, manager } = app
  const isAllBun = isBun && manager.name === 'bun'
  const what = `the build reads ${publicKeys.join(', ')}`
  return [
    ...(app.folder ? [{ what: `the app is ${app.folder}`, reason: 'a package of the workspace' }] : []),
    ...(isAllBun ? [] : [isBun ? { what: `bun ${bun.tag}`, ...bun } : { what: `node ${node.tag}`, ...node }]),
    ...manager.choices,
    ...findEarlySource(app),
    ...(build ? [{ what: build.command, reason: build.reason }] : []),
    ...(publicKeys.length > 0 ? [{ what, reason: 'such variables end up in public pages' }] : []),
  ]
}

/** They end up in what anyone can read, so the build may see them. */
function findPublicKeys(framework: Framework | null, { env }: Wishes): string[] {
  return env.filter((key) => framework?.prefixes.some((prefix) => key.startsWith(prefix)))
}
