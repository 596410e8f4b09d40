// The examples at the end of a command's help; a test parses each of them.

/** For `command.addHelpText('after', …)`. Each line is a command, optionally with a description after `#`. */
export function examples(...lines: string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  $ ${line}`)].join('\n')
}
