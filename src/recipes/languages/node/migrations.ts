// Migrations of a database that a source has. They are proposed, never run.
import { type Proposal, propose } from '../../recipe.ts'
import type { App } from './app.ts'
import { hasPackage } from './manifest.ts'

const tools: { name: string; files: RegExp; command: string }[] = [
  {
    name: 'prisma',
    files: /(^|\/)prisma\/(.+\/)?migrations\/.+\/migration\.sql$/,
    command: 'npx prisma migrate deploy',
  },
  { name: 'drizzle-kit', files: /(^|\/)meta\/_journal\.json$/, command: 'npx drizzle-kit migrate' },
  { name: 'knex', files: /(^|\/)migrations\/[^/]+\.[cm]?[jt]s$/, command: 'npx knex migrate:latest' },
  {
    name: 'sequelize-cli',
    files: /(^|\/)migrations\/[^/]+\.[cm]?js$/,
    command: 'npx sequelize-cli db:migrate',
  },
]

export interface Migration {
  proposal: Proposal
  /** The package that runs it. */
  tool: string
}

export function findMigration({ tree, manifest }: App): Migration | null {
  for (const { name, files, command } of tools) {
    const [file] = hasPackage(manifest, name) ? tree.find(files) : []
    if (file) return { proposal: propose(command, `there is ${file}`), tool: name }
  }
  return null
}
