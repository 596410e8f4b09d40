// The demo itself: a service from a repository, its first deploy, then a second one that nobody notices.
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Api, Body } from '../support/api.ts'
import { type State, statesOf } from './deploy-moments.ts'
import { showDeploy } from './deploy-view.ts'
import { count, factLines, heading, phaseLine, seconds, wrap } from './lines.ts'
import { type Page, visit } from './page.ts'
import { prepareSetting, type Setting } from './setting.ts'
import { orLeave, type Stage } from './stage.ts'
import { reasonOf, Trouble, toTrouble } from './trouble.ts'
import { sendVisitor, type Visits } from './visitor.ts'

interface Options {
  /** Ends when all is shown, instead of staying until Ctrl-C. */
  isOnce: boolean
}

const healthPath = '/healthz'
const again = 'run it again: npm run demo'

export async function tellStory(stage: Stage, { isOnce }: Options): Promise<void> {
  const { terminal, signal } = stage
  terminal.print()
  terminal.print(` ${terminal.paint('bold', 'Berth')}  from a commit to a page, and to the next one`)
  terminal.print()
  const setting = await prepareSetting(stage)
  try {
    const first = await deployFirst(stage, setting)
    const second = await deploySecond(stage, setting, first)
    await showPlaces(stage, setting, second)
  } catch (error) {
    if (await hasEnded(setting.daemon.pid))
      throw new Trouble('the daemon ended by itself', reasonOf(error), again)
    throw toTrouble(error, 'the daemon did not do as it was asked', again)
  }
  if (isOnce) return
  terminal.print()
  terminal.print(' Running until Ctrl-C, which removes all of it.')
  await stay(signal)
}

/** A process that has ended is still to be seen until its parent, which is us, has taken notice. */
async function hasEnded(pid: number): Promise<boolean> {
  await delay(100)
  try {
    return !process.kill(pid, 0)
  } catch {
    return true
  }
}

async function deployFirst(stage: Stage, { daemon: { api }, repository }: Setting): Promise<LiveDeploy> {
  heading(stage.terminal, 'The first version')
  const wanted = { name: 'hello', repo_url: repository.directory, health_check_path: healthPath }
  const { latest_deploy } = await api.post('/services', wanted)
  const shown = { deployId: latest_deploy.id, title: 'the first deploy', keepLog: true }
  const states = await showDeploy(stage.terminal, api, shown, stage.signal)
  return showLive(stage, api, shown.deployId, states, 'v1')
}

async function deploySecond(stage: Stage, { daemon: { api }, repository }: Setting, first: LiveDeploy) {
  heading(stage.terminal, 'The second version, while somebody keeps asking for the first')
  await repository.commit('v2', 'Say v2')
  const visitor = sendVisitor(first.url, 'v1')
  try {
    const { id } = await api.post('/services/hello/deploys', {})
    const footnote = () => `v1 has answered ${count(visitor.answers(), 'request')}`
    const shown = { deployId: id, title: 'the second deploy', keepLog: false, footnote }
    const states = await showDeploy(stage.terminal, api, shown, stage.signal)
    const visits = await visitor.leave(states.at(-1)!.at)
    const second = await showLive(stage, api, id, states, 'v2')
    showVisits(stage, visits)
    return second
  } finally {
    void visitor.leave()
  }
}

interface LiveDeploy {
  id: string
  url: string
}

/** The last line of a deploy, with its whole duration, and what a visitor gets to see. */
async function showLive(
  { terminal, signal }: Stage,
  api: Api,
  id: string,
  states: State[],
  version: string,
): Promise<LiveDeploy> {
  const durationMs = Date.parse(states.at(-1)!.at) - Date.parse(states[0]!.at)
  const line = (mark: string, detail: string) =>
    phaseLine(terminal, { mark, name: 'live', detail, durationMs })
  terminal.animate((spinner) => [line(spinner, '')])
  const url = await orLeave(addressOf(api, id), signal).finally(terminal.rest)
  terminal.print(line('✔', url))
  const page = await orLeave(visitPage(url), signal)
  if (page.version !== version) {
    const why = `it says ${page.version} instead of ${version}`
    throw new Trouble(`${url} has the wrong page`, why, 'this is a bug in Berth')
  }
  const from = `from commit ${page.commit}, instance ${page.instance}`
  for (const line of factLines(terminal, 'page', [`"${page.title}" ${from}`])) terminal.print(line)
  return { id, url }
}

async function addressOf(api: Api, deployId: string): Promise<string> {
  const { instances } = await api.get('/services/hello/status')
  const own = instances.find(
    (instance: Body) => instance.deploy_id === deployId && instance.state === 'running',
  )
  if (own) return `http://${own.address}`
  throw new Trouble(
    'the deploy is live and nothing runs',
    `${deployId} has no running instance`,
    'this is a bug in Berth',
  )
}

function visitPage(url: string): Promise<Page> {
  return visit(url).catch((error: unknown) => {
    const next = 'containers are asked at their own address: the engine has to run on this machine'
    throw toTrouble(error, `the page at ${url} could not be had`, next)
  })
}

function showVisits({ terminal }: Stage, { answered, failed, reason }: Visits): void {
  const words = `v1 answered ${count(answered, 'request')} until the switch, ${failed} failed`
  for (const line of factLines(terminal, 'visits', [words])) terminal.print(line)
  if (failed === 0) return
  throw new Trouble(`${failed} requests failed while v2 was deployed`, reason!, 'this is a bug in Berth')
}

/** Where to look: one line each, all of them to be copied. */
async function showPlaces({ terminal }: Stage, setting: Setting, { id, url }: LiveDeploy): Promise<void> {
  const { api } = setting.daemon
  const durations = durationsOf(await statesOf(api, id))
  heading(terminal, 'Where to look')
  const facts: [name: string, values: string[]][] = [
    ['page', [url]],
    ['API', [`${api.url}/api/v1`]],
    ['token', [setting.tokenFile]],
    ['history', wrap(durations, terminal.width() - 16)],
  ]
  for (const [name, values] of facts) {
    for (const line of factLines(terminal, name, values)) terminal.print(line)
  }
  terminal.print()
  terminal.print(`   curl -H @${setting.headerFile} ${api.url}/api/v1/services`)
}

/** `queued 0.0s →`, `fetching 0.2s →`, … `live` */
function durationsOf(states: State[]): string[] {
  return states.map(({ name, at }, index) => {
    const next = states[index + 1]
    return next ? `${name} ${seconds(Date.parse(next.at) - Date.parse(at))} →` : name
  })
}

async function stay(signal: AbortSignal): Promise<void> {
  const awake = setInterval(() => undefined, 60_000)
  if (!signal.aborted) await once(signal, 'abort')
  clearInterval(awake)
}
