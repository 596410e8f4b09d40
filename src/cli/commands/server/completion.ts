// Completion for shells: the script calls `berth complete`, which prints possible next words.
import type { BerthCommand } from '../../command.ts'
import { completeWords } from '../../completion/completion.ts'
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

/**
 * Each calls `berth complete -- WORD…` with the words typed so far; the last is still being typed. The output
 * is never evaluated: `compgen -W` would run a `$(…)` in a name from the server.
 */
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
