// Whether the packages for development stay in the image: they are large, and some apps run by them.
import type { Choice } from '../../recipe.ts'
import type { App } from './app.ts'
import type { Migration } from './migrations.ts'
import type { Server } from './plan.ts'
import { findNeeded } from './start.ts'

interface Prune {
  command: string | null
  choices: Choice[]
}

export function choosePrune(app: App, server: Server, migration: Migration | null): Prune {
  const { devDependencies } = app.manifest
  if (Object.keys(devDependencies).length === 0 || server.files) return { command: null, choices: [] }
  const reason = findReason(app, server, migration)
  if (reason) return { command: null, choices: [{ what: 'packages for development stay', reason }] }
  return { command: app.manager.prune, choices: [] }
}

function findReason(
  { manifest, manager, tree }: App,
  { start }: Server,
  migration: Migration | null,
): string | null {
  if (migration && migration.tool in manifest.devDependencies)
    return `${migration.tool} is one, for migrations`
  if (tree.has('next.config.ts') && 'typescript' in manifest.devDependencies)
    return 'next.config.ts needs typescript when it starts'
  const needed = findNeeded(manifest, start)
  if (needed) return `the start command may need ${needed}`
  return manager.prune ? null : `${manager.program} cannot remove them safely`
}
