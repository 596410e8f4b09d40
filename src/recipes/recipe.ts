// A recipe: how to build and run a source, as data, with the reason of each choice.

/** Raised when the recipes of this Berth give another Dockerfile for the same source. */
export const recipeVersion = 1

export interface Recipe {
  /** `Node.js with Next.js` */
  title: string
  choices: Choice[]
  /** The folder of the source that is the build context; empty for the top. */
  context: string
  /** In order; the last one is what runs, or what has the pages. */
  stages: Stage[]
  /** Lines of a .dockerignore. */
  ignore: string[]
  /** Null if it listens on none. */
  port: number | null
  /** For pages without a server of their own. */
  site: Site | null
  /** The author's own instruction. */
  preDeploy: Reasoned | null
  /** Settings that Berth only infers: they are shown, and never applied. */
  proposals: Proposal[]
  /** Other processes of the source, which could be services. */
  workers: Worker[]
  /** What is lost with each instance, unless it is on a disk. */
  storedData: StoredData[]
}

/** `what` was chosen because of `reason`: `node 22`, `engines.node ">=22" in package.json`. */
export interface Choice {
  what: string
  reason: string
}

/** A command, and why it is this one. */
export interface Reasoned {
  command: string
  reason: string
}

export interface Site {
  /** Of the last stage. */
  folder: string
  /** Unknown paths serve index.html. */
  fallback: boolean
}

export interface Proposal {
  setting: 'pre_deploy_command'
  value: string
  reason: string
}

export interface Worker {
  name: string
  command: string
}

export interface StoredData {
  kind: 'database' | 'files'
  /** What keeps it: `better-sqlite3`. */
  library: string
  /** In the instances. Null if the source does not show it. */
  path: string | null
  /** A variable of the env that names another path. */
  variable: string | null
  /** What a relative path in the variable is relative to. */
  base: string
  /** The folder that a disk can cover. */
  disk: string
  /** A sentence without a full stop. */
  reason: string
}

export interface Stage {
  name: string
  /** An image with its tag, or an earlier stage. */
  from: string
  steps: Step[]
}

export type Step =
  | { do: 'workdir'; path: string }
  | { do: 'copy'; from: string | null; paths: string[]; to: string; owner: string | null }
  | { do: 'run'; command: string; caches: string[]; secrets: string[] }
  | { do: 'env'; values: Record<string, string> }
  | { do: 'arg'; names: string[] }
  | { do: 'user'; user: string }
  | { do: 'start'; command: string[] }

/** Why no recipe fits, and what would help. */
export interface Refusal {
  /** A sentence without a full stop. */
  problem: string
  /** Files whose absence decided, as `package.json`. */
  lookedFor: string[]
  /** Folders of the source that are apps of their own. */
  apps: string[]
  /** A start command that would say which program is meant. */
  start: string | null
}

/** What the service's settings say, and what of its env the build may see. */
export interface Wishes {
  type: 'web_service' | 'private_service' | 'background_worker' | 'cron_job' | 'static_site'
  build: Reasoned | null
  start: Reasoned | null
  publishDir: string | null
  /** The keys of the env. */
  env: string[]
}

/** What a language says. The rest of the recipe is the same for all. */
export type Draft = Pick<Recipe, 'title' | 'choices' | 'stages'> &
  Partial<Pick<Recipe, 'context' | 'ignore' | 'port' | 'site' | 'proposals'>> & {
    /** Folders of the context that the app does not need, as other apps of a workspace. */
    others?: string[]
  }

export const workdir = (path: string): Step => ({ do: 'workdir', path })
export const copy = (paths: string[], to: string, owner: string | null = null): Step =>
  copyFrom(null, paths, to, owner)
export const copyFrom = (
  from: string | null,
  paths: string[],
  to: string,
  owner: string | null = null,
): Step => ({ do: 'copy', from, paths, to, owner })
export const run = (
  command: string,
  { caches = [], secrets = [] }: { caches?: string[]; secrets?: string[] } = {},
): Step => ({ do: 'run', command, caches, secrets })
export const propose = (value: string, reason: string): Proposal => ({
  setting: 'pre_deploy_command',
  value,
  reason,
})
export const env = (values: Record<string, string>): Step => ({ do: 'env', values })
export const arg = (names: string[]): Step[] => (names.length === 0 ? [] : [{ do: 'arg', names }])
export const start = (command: string | string[]): Step => ({
  do: 'start',
  command: typeof command === 'string' ? toArguments(command) : command,
})

/** Apps run as this user, and own their files. */
export const appUser = '1000:1000'
export const user: Step = { do: 'user', user: appUser }

/** The words of a command that needs no shell. Others get a shell, which a single command replaces. */
export function toArguments(command: string): string[] {
  const text = command.trim()
  if (/^[\w@%+:,./-][\w@%+=:,./-]*( +[\w@%+=:,./-]+)*$/.test(text) && !/^\w+=/.test(text))
    return text.split(/ +/)
  const unquoted = text.replace(/'[^']*'/g, "''")
  const isSingle = !/[;&|<>(){}\n`]|^(cd|export|\.|source|if|for|while|set|exec)\b|^\w+=/.test(unquoted)
  return ['sh', '-c', isSingle ? `exec ${text}` : text]
}

/** The line of a command, if there is one. */
export function toChoice(command: Reasoned | null): Choice[] {
  return command ? [{ what: command.command, reason: command.reason }] : []
}

export function isRefusal(outcome: object): outcome is Refusal {
  return 'problem' in outcome
}

export function refuse(
  problem: string,
  { lookedFor = [], apps = [], start = null }: Partial<Refusal> = {},
): Refusal {
  return { problem, lookedFor, apps, start }
}
