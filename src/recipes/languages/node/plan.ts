// What becomes of an app: a server with its start command, or pages.

export type Plan = Server | Pages

interface Common {
  reason: string
  /** Start scripts that do not fit what the build makes. */
  replaces: RegExp | null
}

export interface Server extends Common {
  start: string
  /** Folders that run without the rest of the app, with their places there. Null for everything. */
  files: Record<string, string> | null
  env: Record<string, string>
  /** What npm installs where it runs. */
  tools: string[]
}

export interface Pages extends Common {
  /** Relative to the app. */
  folder: string
  /** Unknown paths serve index.html. */
  fallback: boolean
}

export function serve(
  start: string,
  reason: string,
  { replaces = null, files = null, env = {}, tools = [] }: Partial<Server> = {},
): Server {
  return { start, reason, replaces, files, env, tools }
}

export function publish(
  folder: string,
  reason: string,
  { replaces = null, fallback = false }: Partial<Pages> = {},
): Pages {
  return { folder, reason, replaces, fallback }
}

export function isServer(plan: Plan): plan is Server {
  return 'start' in plan
}
