// The scripts that call `berth complete -- WORD…` with the words typed so far; the last word is still being
// typed. Its output is never evaluated: `compgen -W` would run a `$(…)` in a name from the server.

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export function isShell(word: string): word is Shell {
  return (shells as readonly string[]).includes(word)
}

export function scriptFor(shell: Shell): string {
  return scripts[shell].trim()
}

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
