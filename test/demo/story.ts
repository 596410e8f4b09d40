// The demo itself: approves a terminal login, deploys a repository, and deploys again
// without failed requests.
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Api } from '../support/daemon/api.ts'
import { owner, signUp } from '../support/http/session.ts'
import { typeBerth } from './berth.ts'
import { count, factLines, heading } from './lines.ts'
import { type Page, visit } from './page.ts'
import { prepareSetting, type Setting } from './setting.ts'
import { orLeave, type Stage } from './stage.ts'
import { readStrip } from './strip.ts'
import { reasonOf, Trouble, toProblem } from './trouble.ts'
import { sendVisitor, type Visits } from './visitor.ts'

interface Options {
  /** Exits at the end instead of waiting for Ctrl-C. */
  isOnce: boolean
}

const healthPath = '/healthz'
const again = 'run it again: npm run demo'

export async function printStory(stage: Stage, { isOnce }: Options): Promise<void> {
  const { terminal, signal } = stage
  terminal.print()
  terminal.print(
    ` ${terminal.paint('bold', 'Berth')}  from a commit to a served page, and to its next version`,
  )
  terminal.print()
  const setting = await prepareSetting(stage)
  try {
    await logIn(stage, setting)
    showDashboard(stage, setting)
    const first = await deployFirst(stage, setting)
    const second = await deploySecond(stage, setting, first)
    await runCommand(stage, setting)
    await showPlaces(stage, setting, second)
    if (isOnce) await showStrip(stage, setting, second)
  } catch (error) {
    if (await hasEnded(setting.daemon.pid))
      throw new Trouble('the daemon exited unexpectedly', reasonOf(error), again)
    throw toProblem(error, 'a request to the daemon failed', again)
  }
  if (isOnce) return
  terminal.print()
  terminal.print(' Running until Ctrl-C, which removes everything.')
  await stay(signal)
}

/** An exited child remains a zombie until its parent, this process, has reaped it. */
async function hasEnded(pid: number): Promise<boolean> {
  await delay(100)
  try {
    return !process.kill(pid, 0)
  } catch {
    return true
  }
}

/** Creates the account as the setup link does, and approves a terminal login. */
async function logIn(stage: Stage, { daemon, configFolder }: Setting): Promise<void> {
  heading(stage.terminal, 'Signing in a terminal')
  const { url } = daemon.api
  const browser = await signUp(url, daemon.dataDir)
  const approve = (line: string) => {
    const id = /cli-login\?id=([\w-]+)/.exec(line)?.[1]
    if (id) void fetch(`${url}/api/v1/auth/cli/${id}/approve`, { method: 'POST', headers: browser })
  }
  await typeBerth(stage, { args: ['login', url, '--no-browser'], configFolder, hear: approve })
}

/** Early, so that the deploys can be watched there. */
function showDashboard({ terminal }: Stage, { daemon: { api } }: Setting): void {
  heading(terminal, 'The dashboard')
  for (const line of factLines(terminal, 'open', [
    `${api.url}/services`,
    `${owner.email}, ${owner.password}`,
  ]))
    terminal.print(line)
}

async function deployFirst(stage: Stage, { daemon: { api }, repository, configFolder }: Setting) {
  heading(stage.terminal, 'The first version')
  const args = ['create', 'hello', '--repo', repository.directory, '--health-path', healthPath]
  await typeBerth(stage, { args, configFolder })
  return visitLive(stage, api, 'v1')
}

async function deploySecond(stage: Stage, { daemon: { api }, ...setting }: Setting, first: LiveDeploy) {
  heading(stage.terminal, 'The second version, under continuous requests')
  await setting.repository.commit('v2')
  const visitor = sendVisitor(first.url)
  try {
    await typeBerth(stage, { args: ['deploy', 'hello'], configFolder: setting.configFolder })
    const second = await visitLive(stage, api, 'v2')
    await visitor.hasSeen('v2', 20)
    showVisits(stage, await visitor.leave())
    return second
  } finally {
    void visitor.leave()
  }
}

async function runCommand(stage: Stage, { configFolder }: Setting): Promise<void> {
  heading(stage.terminal, 'A command in the live version')
  await typeBerth(stage, { args: ['run', 'hello', '--', 'node', '-p', 'process.version'], configFolder })
}

interface LiveDeploy {
  id: string
  url: string
}

/** The live deploy's page as visitors see it. */
async function visitLive({ terminal, signal }: Stage, api: Api, version: string): Promise<LiveDeploy> {
  const { live_deploy_id: id, url } = await orLeave(api.get('/services/hello'), signal)
  const page = await orLeave(visitPage(url), signal)
  if (page.version !== version) {
    const why = `it shows ${page.version} instead of ${version}`
    throw new Trouble(`${url} serves the wrong page`, why, 'this is a bug in Berth')
  }
  const from = `from commit ${page.commit}, instance ${page.instance}`
  for (const line of factLines(terminal, 'page', [`"${page.title}" ${from}`])) terminal.print(line)
  return { id, url }
}

function visitPage(url: string): Promise<Page> {
  return visit(url).catch((error: unknown) => {
    const next = 'the edge runs next to the engine, which must be on this machine'
    throw toProblem(error, `the page at ${url} could not be loaded`, next)
  })
}

function showVisits({ terminal }: Stage, { byVersion, failed, reason }: Visits): void {
  const responses = [...byVersion].map(([version, times]) => `${count(times, 'response')} from ${version}`)
  const text = `${responses.join(', then ')}; ${failed} failed`
  for (const line of factLines(terminal, 'visits', [text])) terminal.print(line)
  if (failed === 0) return
  throw new Trouble(`${failed} requests failed while v2 was deployed`, reason!, 'this is a bug in Berth')
}

/** The result, and where to look next; the values can be copied. */
async function showPlaces(stage: Stage, setting: Setting, { id, url }: LiveDeploy): Promise<void> {
  const { terminal } = stage
  const { daemon, configFolder } = setting
  heading(terminal, 'The history of the deploy')
  await typeBerth(stage, { args: ['history', id], configFolder })
  heading(terminal, 'Where to look')
  const facts: [name: string, values: string[]][] = [
    ['page', [url]],
    ['account', [`${daemon.api.url}/account`, `${owner.email}, ${owner.password}`]],
    ['API', [`${daemon.api.url}/api/v1/openapi.json`]],
    ['terminal', [`export XDG_CONFIG_HOME=${configFolder}`, 'npm run -s berth -- status hello']],
  ]
  for (const [name, values] of facts) {
    for (const line of factLines(terminal, name, values)) terminal.print(line)
  }
}

/** Without `--once`, the visitor looks for himself. */
async function showStrip(
  { terminal, signal }: Stage,
  { daemon }: Setting,
  { id }: LiveDeploy,
): Promise<void> {
  const steps = await orLeave(readStrip(`${daemon.api.url}/services/hello/deploys/${id}`), signal)
  if (steps === null) return
  heading(terminal, 'The deploy on the dashboard')
  for (const line of factLines(terminal, 'strip', steps)) terminal.print(line)
}

async function stay(signal: AbortSignal): Promise<void> {
  const awake = setInterval(() => undefined, 60_000)
  if (!signal.aborted) await once(signal, 'abort')
  clearInterval(awake)
}
