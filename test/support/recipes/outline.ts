// What several tools say about the same source, in words that can be compared.
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Recipe } from '../../../src/recipes/index.ts'
import { readInstructions } from './printed.ts'

export interface Outline {
  /** The program that installs dependencies; null if none does. */
  installer: string | null
  builds: boolean
  /** The command; null for pages. */
  starts: string | null
}

const installPatterns = [
  /\b(npm) (?:ci|install|i)\b(?! *(?:-g|--global))/,
  /\b(pnpm) (?:install|i)\b/,
  /\b(yarn)(?: install|$| --)/,
  /\b(bun) install/,
]
const buildPatterns = [
  /\b(?:npm|pnpm|yarn|bun)(?: run)? build\b/,
  /\b(?:turbo|nx|vite|next|astro)(?: run)? build\b/,
  /\bnx run \S+:build\b/,
]

function outline(commands: string[], starts: string | null, scripts: Record<string, string>): Outline {
  const find = (command: string) => installPatterns.flatMap((pattern) => pattern.exec(command)?.[1] ?? [])
  const [installer = null] = commands.flatMap(find)
  const builds = commands.some((command) => buildPatterns.some((pattern) => pattern.test(command)))
  return { installer, builds, starts: starts === null ? null : resolve(starts, scripts) }
}

/** What `npm start` starts, in the words of all: a program that was built has no name. */
function resolve(command: string, scripts: Record<string, string>): string {
  const [, script = ''] = /^(?:npm|pnpm|yarn|bun)(?: run)? (\S+)$/.exec(command) ?? []
  return (scripts[script]?.trim() ?? command)
    .replace(/^cd \S+ && /, '')
    .replace(/^npx /, '')
    .replace(/\$\{PORT:-\d+\}/g, '$PORT')
    .replace(/^(\.\/out|\.\/bin\/\S+|\/app\/bin\/\S+)$/, 'its program')
    .replace(/ (?:\.\/|\/app\/)/, ' ')
    .replace(/\/index\.js$/, '')
}

export function outlineRecipe(
  { stages, site }: Pick<Recipe, 'stages' | 'site'>,
  scripts: Record<string, string>,
): Outline {
  const steps = stages.flatMap((stage) => stage.steps)
  const commands = steps.flatMap((step) => (step.do === 'run' ? step.command : []))
  const starts = steps.flatMap((step) => (step.do === 'start' ? [step.command] : [])).at(-1) ?? []
  return outline(commands, site ? null : joinWords(starts), scripts)
}

/** A command without the shell that only starts it. */
export function joinWords(words: string[]): string {
  const [shell, option, text = ''] = words
  return shell === 'sh' && option === '-c' ? text.replace(/^exec /, '') : words.join(' ')
}

/** What `@flydotio/dockerfile` writes for it, which happens in a copy. Null if it does not manage. */
export async function outlineByFly(tree: string, scripts: Record<string, string>): Promise<Outline | null> {
  const directory = await mkdtemp(join(tmpdir(), 'berth-test-'))
  try {
    await cp(tree, directory, { recursive: true })
    await rm(join(directory, 'Dockerfile'), { force: true })
    const program = createRequire(import.meta.url).resolve('@flydotio/dockerfile')
    const args = [program, '--force', '--skip']
    const isDone = await promisify(execFile)(process.execPath, args, { cwd: directory }).catch(() => null)
    if (isDone === null) return null
    const instructions = readInstructions(await readFile(join(directory, 'Dockerfile'), 'utf8'))
    const rests = (keyword: string) =>
      instructions.filter((one) => one.keyword === keyword).map(({ rest }) => rest)
    const isSite = rests('FROM').some((image) => image.startsWith('nginx'))
    const starts = joinWords(JSON.parse(rests('CMD').at(-1) ?? '[]'))
    return outline(rests('RUN'), isSite ? null : starts, scripts)
  } finally {
    await rm(directory, { recursive: true })
  }
}

interface Plan {
  deploy: { startCommand?: string }
  steps: { commands?: { cmd?: string }[] }[]
}

/** What Railpack plans for it. */
export function outlinePlan({ deploy, steps }: Plan, scripts: Record<string, string>): Outline {
  const commands = steps.flatMap((step) => step.commands?.flatMap(({ cmd }) => cmd ?? []) ?? [])
  const { startCommand = '' } = deploy
  return outline(commands, startCommand.startsWith('caddy run') ? null : startCommand, scripts)
}
