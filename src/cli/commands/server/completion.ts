// Completion for shells: the script calls `berth complete`, which prints possible next words.

import type { Command } from 'commander'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { readConfig } from '../../config/config.ts'
import { usageFailure } from '../../failure.ts'

export function addCompletionCommands(program: BerthCommand): void {
  program
    .command('completion')
    .argument('<shell>', shells.join(', '))
    .description('print the script that completes berth in your shell')
    .examples(
      'berth completion bash > ~/.local/share/bash-completion/completions/berth',
      'berth completion zsh > ~/.zfunc/_berth   # a folder of $fpath',
      'berth completion fish > ~/.config/fish/completions/berth.fish',
    )
    .runs(async ({ out }, shell: string) => {
      if (!isShell(shell))
        throw usageFailure(`no completion for '${shell}'`, `supported shells: ${shells.join(', ')}`)
      out.print(scriptFor(shell))
    })
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .runs(async (cli, words: string[]) => {
      for (const word of await completeWords(program, cli, words)) cli.out.print(word)
    })
}

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

function isShell(word: string): word is Shell {
  return (shells as readonly string[]).includes(word)
}

function scriptFor(shell: Shell): string {
  return scripts[shell].trim()
}

/** Each calls `berth complete -- WORD…`; the last may be incomplete. `compgen -W` would evaluate output. */
const scripts: Record<Shell, string> = {
  bash: `
_berth() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done \\
    < <(berth complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _berth berth
`,
  zsh: `
#compdef berth
_berth() {
  local -a found
  found=("\${(@f)$(berth complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- $found
}
if [ "$funcstack[1]" = _berth ]; then _berth "$@"; else compdef _berth berth; fi
`,
  fish: `
function __berth_words
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -e words[1]
  berth complete -- $words "$typed" 2>/dev/null
end
complete -c berth -f -a '(__berth_words)'
`,
}

// Suggests next words. This runs whenever Tab is pressed: it prints no errors.

const timeoutMs = 1000

/** The last word is still being typed and may be empty. */
async function completeWords(program: Command, cli: Cli, words: string[]): Promise<string[]> {
  const typed = words.at(-1) ?? ''
  const { command, argumentCount } = walk(program, words.slice(0, -1))
  const found = typed.startsWith('-')
    ? flagsOf(command, program)
    : await wordsFor(command, argumentCount, cli)
  return found.filter((word) => word.startsWith(typed) && isHarmless(word))
}

/** True if no shell gives the word a special meaning. */
function isHarmless(word: string): boolean {
  return /^[\w.:@%+,-]+$/.test(word)
}

/** The command that the words select so far, and the number of its arguments already present. */
function walk(program: Command, words: string[]): { command: Command; argumentCount: number } {
  let command = program
  let argumentCount = 0
  for (const [index, word] of words.entries()) {
    if (word.startsWith('-') || takesValue(command, program, words[index - 1])) continue
    const next = argumentCount === 0 ? command.commands.find((one) => one.name() === word) : undefined
    if (next) command = next
    else argumentCount += 1
  }
  return { command, argumentCount }
}

function takesValue(command: Command, program: Command, flag: string | undefined): boolean {
  if (!flag?.startsWith('-')) return false
  const options = [...command.options, ...program.options]
  return options.some(({ long, short, required }) => required && (long === flag || short === flag))
}

function flagsOf(command: Command, program: Command): string[] {
  const shared = program.options.filter(({ long }) => long !== '--version')
  const visible = [...(command === program ? [] : command.options), ...shared].filter(({ hidden }) => !hidden)
  return [...new Set([...visible.map(({ long }) => long ?? ''), '--help'])].filter(Boolean).toSorted()
}

async function wordsFor(command: Command, argumentCount: number, cli: Cli): Promise<string[]> {
  const below = argumentCount === 0 ? command.commands.filter(isVisible).map((one) => one.name()) : []
  if (command.name() === 'completion') return ['bash', 'fish', 'zsh']
  if (command.parent?.name() === 'servers' || command.name() === 'logout') return serverNames(cli)
  const takesName =
    command.registeredArguments[argumentCount]?.name() === 'name' && command.name() !== 'create'
  if (!takesName) return below
  return [...below, ...(await fetchNames(nounOf(command), cli))]
}

function nounOf(command: Command): Noun {
  if (isBelow(command, 'db')) return 'datastores'
  return nouns.find((noun) => isBelow(command, noun)) ?? 'services'
}

function isBelow({ parent }: Command, name: string): boolean {
  return parent !== null && (parent.name() === name || isBelow(parent, name))
}

function isVisible(command: Command): boolean {
  return command.name() !== 'complete'
}

function serverNames({ env }: Cli): string[] {
  try {
    return Object.keys(readConfig(env).servers)
  } catch {
    return []
  }
}

/** Nouns that are the names of their commands. */
const nouns = ['disks', 'trash'] as const
type Noun = 'services' | 'datastores' | (typeof nouns)[number]

async function fetchNames(noun: Noun, { client }: Cli): Promise<string[]> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const found = await client.call<{ name: string }[]>('GET', `/${noun}`, { signal })
    return found.map(({ name }) => name)
  } catch {
    return []
  }
}
