// The examples at the end of a command's help; a test parses each of them.

/** For `command.addHelpText('after', …)`: one command a line, what it does may follow after `#`. */
export function examples(...lines: string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  $ ${line}`)].join('\n')
}
