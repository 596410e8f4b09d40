// Prints a recipe as a Dockerfile that people can read and own.
import { type Recipe, recipeVersion, type Stage, type Step } from './recipe.ts'

export interface PrintOptions {
  /** Whether the builder knows `RUN --mount`. The classic builder does not. */
  mounts: boolean
}

/** Without a `# syntax` line: it would make the engine fetch a frontend from a registry. */
export function printDockerfile(recipe: Recipe, options: PrintOptions = { mounts: true }): string {
  const head = [`# ${recipe.title}, by recipe ${recipeVersion} of Berth.`, ...recipe.choices.map(printChoice)]
  const stages = recipe.stages.flatMap((stage, index) => {
    const isLast = index === recipe.stages.length - 1
    return ['', ...printStage(stage, isLast ? lastLines(recipe, stage) : [], options)]
  })
  return `${[...head, ...stages].join('\n')}\n`
}

export function printIgnoreFile(recipe: Recipe): string {
  return `${recipe.ignore.join('\n')}\n`
}

function printChoice({ what, reason }: { what: string; reason: string }): string {
  return `# ${oneLine(what)}: ${oneLine(reason)}`
}

/** What every last stage has, before its user and its command. */
function lastLines(recipe: Recipe, stage: Stage): string[] {
  const base = findBase(recipe, stage)
  return [
    ...(base === 'scratch' ? [] : [`LABEL org.opencontainers.image.base.name=${JSON.stringify(base)}`]),
    ...(recipe.port === null ? [] : [`ENV PORT=${recipe.port}`, `EXPOSE ${recipe.port}`]),
  ]
}

function findBase({ stages }: Recipe, { from }: Stage): string {
  const parent = stages.find(({ name }) => name === from)
  return parent ? findBase({ stages } as Recipe, parent) : from
}

function printStage({ name, from, steps }: Stage, last: string[], options: PrintOptions): string[] {
  const isEnd = ({ do: kind }: Step) => kind === 'user' || kind === 'start'
  const print = (step: Step) => printStep(step, options)
  return [
    `FROM ${from} AS ${name}`,
    ...steps.filter((step) => !isEnd(step)).map(print),
    ...last,
    ...steps.filter(isEnd).map(print),
  ]
}

function printStep(step: Step, { mounts }: PrintOptions): string {
  switch (step.do) {
    case 'workdir':
      return `WORKDIR ${step.path}`
    case 'copy': {
      const { from, owner, paths, to } = step
      const options = [from && `--from=${from}`, owner && `--chown=${owner}`].filter(Boolean)
      return ['COPY', ...options, ...printPaths([...paths, to])].join(' ')
    }
    case 'run':
      return ['RUN', ...(mounts ? printMounts(step) : []), printCommand(step, mounts)].join(' ')
    case 'env':
      return `ENV ${Object.entries(step.values)
        .map(([key, value]) => `${key}=${quote(value)}`)
        .join(' ')}`
    case 'arg':
      return step.names.map((name) => `ARG ${name}`).join('\n')
    case 'user':
      return `USER ${step.user}`
    case 'start':
      return `CMD ${JSON.stringify(step.command).replaceAll('","', '", "')}`
  }
}

function printMounts({ caches, secrets }: { caches: string[]; secrets: string[] }): string[] {
  return [
    ...caches.map((path) => `--mount=type=cache,target=${path},sharing=locked`),
    ...secrets.map((id) => `--mount=type=secret,id=${id}`),
  ]
}

/** A secret is a file of the step; tools want it in their environment. One that has no value has no file. */
function printCommand({ command, secrets }: { command: string; secrets: string[] }, mounts: boolean): string {
  const names = mounts ? secrets.join(' ') : ''
  const value = '"$key=$(cat "/run/secrets/$key")"'
  const exports = `for key in ${names}; do if [ -f "/run/secrets/$key" ]; then export ${value}; fi; done; `
  const text = names === '' ? command : exports + command
  // Several lines, and what continues a line, are safe only in the JSON form.
  return /[\p{Cc}\u2028\u2029]|\\\s*$|<</u.test(text) ? JSON.stringify(['sh', '-c', text]) : text
}

/** The JSON form is needed for names with blanks. */
function printPaths(paths: string[]): string[] {
  return paths.some((path) => /\s/.test(path)) ? [JSON.stringify(paths)] : paths
}

function quote(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : JSON.stringify(value)
}

/** No text of the source may begin a line of its own in the file. */
function oneLine(text: string): string {
  return text.replace(/\\?[\p{Cc}\u2028\u2029]+\s*/gu, ' ')
}
