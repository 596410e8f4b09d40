// Whether the packages for development stay in the image: they are large, and some apps run by them.
import type { Choice } from '../../recipe.ts'
import { type App, listDevelopment, usesPrisma } from './app.ts'
import { findSettingsNeed } from './framework-plans.ts'
import type { Migration } from './migrations.ts'
import type { Server } from './plan.ts'
import { findNeeded } from './start.ts'

interface Prune {
  command: string | null
  choices: Choice[]
}

export function choosePrune(app: App, server: Server, migration: Migration | null): Prune {
  const development = listDevelopment(app)
  if (development.length === 0 || server.files) return { command: null, choices: [] }
  const reason = findReason(app, server, migration?.tool ?? null, development)
  if (reason) return { command: null, choices: [{ what: 'packages for development stay', reason }] }
  return { command: app.manager.prune, choices: [] }
}

function findReason(app: App, { start }: Server, tool: string | null, development: string[]): string | null {
  if (tool && development.includes(tool)) return `${tool} is one, for migrations`
  if (usesPrisma(app) && app.manager.name !== 'npm')
    return `${app.manager.program} would remove what Prisma generated`
  const settings = start.includes('standalone') ? null : findSettingsNeed(app)
  if (settings) return settings
  const needed = findNeeded(app.manifest, start)
  if (needed) return `the start command may need ${needed}`
  return app.manager.prune ? null : `${app.manager.program} cannot remove them safely`
}
