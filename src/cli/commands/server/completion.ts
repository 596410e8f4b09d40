// Completion for shells: the script calls `berth complete`, which prints possible next words.
import type { BerthCommand } from '../../command.ts'
import { completeWords } from '../../completion/completion.ts'
import { isShell, scriptFor, shells } from '../../completion/scripts.ts'
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
