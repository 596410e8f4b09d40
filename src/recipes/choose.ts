// Chooses the recipe of a source: the first language that is there decides.
import { findApps } from './apps.ts'
import type { Facts } from './facts.ts'
import { languages } from './languages/index.ts'
import { findNeeds } from './needs.ts'
import { readProcfile } from './procfile.ts'
import { isRefusal, type Reasoned, type Recipe, type Refusal, refuse, type Wishes } from './recipe.ts'
import { findStoredData } from './stored-data/stored-data.ts'

/** Never needed in an image, and of no use to a build. */
const ignoredAlways =
  '.git .env .env.* !.env.example Dockerfile* .dockerignore berth.secrets.env **/.DS_Store'.split(' ')

export function chooseRecipe(facts: Facts, settings: Partial<Settings> = {}): Recipe | Refusal {
  const processes = readProcfile(facts.app)
  const wishes = toWishes(settings, processes)
  const language = languages.find(({ isHere }) => isHere(facts.app))
  if (language === undefined) return nothingFits(facts)
  const draft = language.draft(facts, wishes)
  // What is at the top may only hold together the apps below it.
  if (isRefusal(draft))
    return draft.apps.length > 0 || draft.lookedFor.length === 0 ? draft : { ...draft, apps: findApps(facts) }
  const { context = facts.rootDir, ignore = [], others = [], ...rest } = draft
  const own = facts.top.in(context).text('.dockerignore').split(/\r?\n/).filter(Boolean)
  return {
    port: null,
    site: null,
    proposals: [],
    ...rest,
    choices: [...rest.choices, ...findNeeds(facts.top.in(context), facts.app, wishes.env)],
    // The author has said it.
    ...(processes.has('release') && { proposals: [] }),
    context,
    ignore: [...ignoredAlways, ...ignore, ...own],
    preDeploy: reasoned(processes.get('release'), 'the release line of the Procfile'),
    workers: [...processes]
      .filter(([name]) => name !== 'web' && name !== 'release')
      .map(([name, command]) => ({ name, command })),
    storedData: rest.site ? [] : findStoredData(facts.top.in(context), rest.stages, others),
  }
}

/** The settings of a service that recipes follow. */
export interface Settings {
  type: Wishes['type']
  build_command: string | null
  start_command: string | null
  publish_dir: string | null
  env: string[]
}

function toWishes(settings: Partial<Settings>, processes: Map<string, string>): Wishes {
  const { type = 'web_service', build_command, start_command, publish_dir = null, env = [] } = settings
  const main = type === 'background_worker' && !processes.has('web') ? 'worker' : 'web'
  return {
    type,
    build: reasoned(build_command, 'build_command of the service'),
    start:
      reasoned(start_command, 'start_command of the service') ??
      reasoned(processes.get(main), `the ${main} line of the Procfile`),
    publishDir: publish_dir,
    // A build keeps its own.
    env: env.filter((key) => key !== 'PATH' && key !== 'HOME'),
  }
}

function reasoned(command: string | null | undefined, reason: string): Reasoned | null {
  return command ? { command, reason } : null
}

function nothingFits(facts: Facts): Refusal {
  const apps = findApps(facts)
  const lookedFor = languages.flatMap(({ evidence }) => evidence)
  if (facts.app.files.size === 0) return refuse('the source is empty', { lookedFor })
  if (apps.length > 0) return refuse('its apps are in folders of their own', { lookedFor, apps })
  return refuse('no recipe fits it', { lookedFor })
}
