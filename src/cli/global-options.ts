// The options that every command accepts, before or after its name. Commander would let a command accept all
// options of its parents, including `--version`, so each gets its own copy of the shared ones.
import { type Command, Option } from 'commander'

const options = [
  new Option('--server <name|url>', 'the server; otherwise BERTH_SERVER, berth.json, or the default'),
  new Option(
    '--token-file <file>',
    'file with the token; otherwise BERTH_TOKEN or `berth login`; - is stdin',
  ),
  new Option('--json', "print the API's JSON; streams as one value per line"),
  new Option('--no-color', 'no colors, as with NO_COLOR=1'),
]
const tokenOption = new Option('--token <token>').hideHelp()

/** Adds them to the program and to every command, whose help does not repeat them. */
export function shareOptions(program: Command): void {
  for (const option of [...options, tokenOption]) program.addOption(option)
  for (const command of program.commands) addBelow(command)
  program.hook('preAction', (_, command) => copyToProgram(program, command))
}

function addBelow(command: Command): void {
  for (const { flags } of [...options, tokenOption]) command.addOption(new Option(flags).hideHelp())
  for (const below of command.commands) addBelow(below)
}

/** Copies the global options of a command to the program. If an option occurs twice, the last one wins. */
function copyToProgram(program: Command, command: Command): void {
  for (let ancestor = command; ancestor !== program && ancestor.parent; ancestor = ancestor.parent) {
    for (const name of [...options, tokenOption].map((option) => option.attributeName())) {
      const isGiven = ancestor.getOptionValueSource(name) === 'cli'
      if (isGiven) program.setOptionValue(name, ancestor.getOptionValue(name))
    }
  }
}
