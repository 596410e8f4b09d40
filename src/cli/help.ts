// The layout of help texts: commands before options, with the global options listed once.
import { styleText } from 'node:util'
import type { Argument, Command, Help, OutputConfiguration } from 'commander'
import type { Invocation } from './invocation.ts'
import { wantsColour } from './terminal/output.ts'

const maxColumns = 100

export function helpFor({ stdout, env }: Invocation): OutputConfiguration {
  return {
    getOutHelpWidth: () => Math.min(maxColumns, stdout.columns || 80),
    getOutHasColors: () => wantsColour(stdout, env),
    writeOut: (text) => void stdout.write(text),
  }
}

/** Sets the style of the help. Commands created from this program afterwards inherit the style. */
export function styleHelp(program: Command): void {
  program
    .configureHelp({
      formatHelp,
      styleTitle: (text) => styleText('bold', text, { validateStream: false }),
      // The part after a semicolon is shown only in the command's own help.
      subcommandDescription: (command) => command.description().split(';')[0]!,
      subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(termOf)].join(' '),
    })
    .addHelpText('afterAll', ({ command }) =>
      command === program
        ? '\nDetails: berth COMMAND --help. The server has the manual at /docs.'
        : '\nEvery command also takes --server, --token-file, --json and --no-color: berth --help',
    )
}

function formatHelp(command: Command, help: Help): string {
  const width = help.padWidth(command, help)
  const item = (term: string, text: string) => help.formatItem(term, width, text, help)
  const section = (heading: string, items: string[]) =>
    items.length === 0 ? [] : [help.styleTitle(heading), ...items, '']
  const commands = help.visibleCommands(command).filter((one) => one.name() !== 'help')
  const groups = [...new Set(commands.map((one) => one.helpGroup() || 'Commands:'))]
  return [
    `${help.styleTitle('Usage:')} ${help.commandUsage(command)}`,
    '',
    help.boxWrap(help.commandDescription(command), help.helpWidth ?? maxColumns),
    '',
    ...section(
      'Arguments:',
      help
        .visibleArguments(command)
        .map((argument) => item(argument.name(), help.argumentDescription(argument))),
    ),
    ...groups.flatMap((group) => {
      const grouped = commands.filter((one) => (one.helpGroup() || 'Commands:') === group)
      const items = grouped.map((one) => item(help.subcommandTerm(one), help.subcommandDescription(one)))
      return section(group, items)
    }),
    ...section(
      'Options:',
      help
        .visibleOptions(command)
        .map((option) => item(help.optionTerm(option), help.optionDescription(option))),
    ),
  ].join('\n')
}

/** `[name]`, or `name` if it is required. */
function termOf(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}…` : argument.name()
  return argument.required ? name : `[${name}]`
}
