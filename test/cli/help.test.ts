// What `berth` says of itself: every command in a group, with examples that are commands indeed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { buildProgram, everyCommand } from '../../src/cli/program.ts'
import { runBerth } from '../support/berth.ts'

/** The program with actions that only say that they were reached. */
function programThat(reached: () => void): Command {
  return buildProgram(new Command('berth'), () => async () => reached())
}

function visibleCommands(): Command[] {
  return everyCommand(programThat(() => undefined)).filter((command) => command.name() !== 'complete')
}

/** What a command's help shows, the examples included. */
function helpOf(command: Command): string {
  let shown = ''
  command.configureOutput({
    ...command.configureOutput(),
    writeOut: (text) => {
      shown += text
    },
  })
  command.outputHelp()
  return shown
}

function examplesOf(command: Command): string[] {
  const [, section = ''] = helpOf(command).split('\nExamples:\n')
  return section.split('\n').flatMap((line) => /^ {2}\$ (.*)$/.exec(line)?.[1] ?? [])
}

/** The words of the `berth` in a line such as `echo x | A=b berth env set shop A=- > file   # words`. */
function wordsOf(line: string): string[] {
  const [command = ''] = line.split(/ +#| [<>] /)
  const own = command.split('|').find((part) => /\bberth /.test(part)) ?? ''
  const words = own.replace(/^.*?\bberth /, '').match(/'[^']*'|\S+/g) ?? []
  return words.map((word) => word.replace(/^'(.*)'$/, '$1'))
}

test('every command has at least two examples, and each of them can be run as it stands', async () => {
  for (const command of visibleCommands()) {
    const lines = examplesOf(command)
    assert.ok(lines.length >= 2, `${command.name()} has ${lines.length} examples`)
    for (const line of lines) {
      let count = 0
      await programThat(() => (count += 1)).parseAsync(wordsOf(line), { from: 'user' })
      assert.equal(count, 1, line)
    }
  }
})

test('an example that is no command is noticed', async () => {
  await assert.rejects(programThat(() => undefined).parseAsync(wordsOf('berth scale shop'), { from: 'user' }))
})

test('no help is wider than 80 columns where the terminal is not', () => {
  for (const command of visibleCommands()) {
    const wide = helpOf(command)
      .split('\n')
      .filter((line) => line.length > 80 && !line.startsWith('  $ ') && !line.startsWith('Every command'))
    assert.deepEqual(wide, [], command.name())
  }
})

test('`berth` alone shows every command in a group, each on one line', async (t) => {
  const { code, stdout } = await runBerth(t, [])
  assert.equal(code, 0)
  const program = programThat(() => undefined)
  for (const command of program.commands) {
    if (command.name() === 'complete') continue
    assert.ok(command.helpGroup(), `${command.name()} is in no group`)
    const summary = command.description().split(';')[0]!
    assert.match(stdout, new RegExp(`^  ${command.name()}( .*)? ${summary}$`, 'm'))
  }
  assert.doesNotMatch(stdout, /^Commands:|--token </m)
})

test('a password or token is advised nowhere as an argument', () => {
  for (const command of visibleCommands()) {
    assert.doesNotMatch(helpOf(command), /--token |PASSWORD=[^-]|--password/, command.name())
  }
})

test('`berth --version` says the version', async (t) => {
  const { code, stdout } = await runBerth(t, ['--version'])
  assert.equal(code, 0)
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
})
