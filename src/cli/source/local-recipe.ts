// The recipe of a folder, as the server would choose it for an upload of it.
import { join } from 'node:path'
import { findDockerfiles, findUsualDockerfile } from '../../domain/dockerfiles.ts'
import { quote } from '../../domain/shell-word.ts'
import {
  chooseRecipe,
  isRefusal,
  type Recipe,
  type Refusal,
  readFacts,
  type Settings,
} from '../../recipes/index.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure } from '../failure.ts'
import { plain } from '../terminal/output.ts'
import type { Source } from './source-entries.ts'

export interface RecipeOptions extends Partial<Settings> {
  rootDir?: string | undefined
}

/** Throws CliFailure if no recipe fits, with what was looked for and what would help. */
export async function chooseLocalRecipe(
  source: Source,
  { rootDir, ...settings }: RecipeOptions,
): Promise<Recipe> {
  const paths = source.entries.flatMap(({ kind, path }) => (kind === 'folder' ? [] : [path]))
  const facts = await readFacts(source.folder, { paths, ...(rootDir ? { rootDir } : {}) })
  const outcome = chooseRecipe(facts, settings)
  if (isRefusal(outcome)) throw await noRecipe(join(source.folder, rootDir ?? ''), outcome)
  return outcome
}

async function noRecipe(folder: string, { problem, lookedFor, apps, start }: Refusal): Promise<CliFailure> {
  const dockerfiles = await findDockerfiles(folder)
  const own = findUsualDockerfile(dockerfiles)
  if (own)
    return new CliFailure(`no recipe builds ${folder}: ${problem}`, {
      hint: `none is needed: ${own} is there, and it wins over recipes (berth up)`,
    })
  const reasons = [
    `${folder} has no Dockerfile, and ${problem}`,
    ...(lookedFor.length > 0 && apps.length === 0 ? [`looked for: ${lookedFor.join(', ')}`] : []),
    ...(dockerfiles.length > 0 ? [`Dockerfiles in other places: ${dockerfiles.join(', ')}`] : []),
    ...(apps.length > 0 ? [`folders that are apps: ${apps.join(', ')}`] : []),
  ]
  // Few names were looked for if the language is known, and only how it starts is not.
  const isKnown = lookedFor.length > 0 && lookedFor.length < 5
  const add = `add a Dockerfile${isKnown ? ', or say how it starts in a Procfile (web: COMMAND)' : ''}`
  const which = apps[0] === undefined ? null : `--root-dir ${apps[0]}`
  const program = start && `--start-command ${quote(start)}`
  const hint = (which ?? program) ? `say which one: ${which ?? program}` : add
  return new CliFailure(reasons.join('\n'), { hint })
}

/** `   node 24       engines.node ">=22" in package.json`, and what else a user should know. */
export function sayChoices(
  { out }: Cli,
  { choices, preDeploy, proposals, workers, storedData }: Recipe,
): void {
  const width = Math.max(...choices.map(({ what }) => what.length))
  for (const { what, reason } of choices)
    out.say(`     ${plain(what.padEnd(width))}  ${out.tint('dim', plain(reason))}`)
  const say = (text: string) => out.say(plain(`     ${text}`))
  if (preDeploy) say(`before each new version: ${preDeploy.command} (${preDeploy.reason})`)
  for (const { value, reason } of proposals)
    say(`not run by itself: ${value} (${reason}): --pre-deploy-command`)
  for (const { name, command } of workers)
    say(`also in the Procfile, as a service of its own: ${name}: ${command}`)
  for (const { reason, disk } of storedData)
    say(`${reason}; without a disk it is lost with each deploy: berth update NAME --disk ${quote(disk)}`)
}
