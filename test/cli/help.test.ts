// What `berth` says of itself: every command in a group, with examples that are commands indeed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { BerthCommand } from '../../src/cli/command.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { runBerth } from '../support/cli/berth.ts'
import { commandWords, helpOf, programThat, visibleCommands } from '../support/http/reference.ts'

function examplesOf(command: Command): string[] {
  const [, section = ''] = helpOf(command).split('\nExamples:\n')
  return section.split('\n').flatMap((line) => /^ {2}\$ (.*)$/.exec(line)?.[1] ?? [])
}

test('every command has at least two examples, and each of them parses', async () => {
  for (const command of visibleCommands()) {
    const lines = examplesOf(command)
    assert.ok(lines.length >= 2, `${command.name()} has ${lines.length} examples`)
    for (const line of lines) {
      let count = 0
      await programThat(() => (count += 1)).parseAsync(commandWords(line), { from: 'user' })
      assert.equal(count, 1, line)
    }
  }
})

test('help is at most 80 columns wide unless the terminal is wider', () => {
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

test('no help suggests a password or token as an argument', () => {
  for (const command of visibleCommands()) {
    assert.doesNotMatch(helpOf(command), /--token |PASSWORD=[^-]|--password[ =]/, command.name())
  }
})

test('`berth --version` prints the version', async (t) => {
  const { code, stdout } = await runBerth(t, ['--version'])
  assert.equal(code, 0)
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
})

/** What it takes to be reached: a word, or a number, for each argument and option that is needed. */
function pathTo(command: Command): string[] {
  const { parent } = command
  const above = parent ? [...pathTo(parent).slice(0, depthOf(parent)), command.name()] : []
  const requiredArguments = command.registeredArguments.filter((argument) => argument.required)
  const flags = command.options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long, flags }) => [long ?? '', flags.includes('<on|off>') ? 'on' : 'ada'])
  return [
    ...above,
    ...flags,
    ...requiredArguments.map((argument) => (argument.name() === 'number' ? '1' : 'A=1')),
  ]
}

function depthOf(command: Command): number {
  return command.parent ? depthOf(command.parent) + 1 : 0
}

test('every command rejects unknown flags, including --version and those of other commands', async () => {
  const strangers = [['--version'], ['-V'], ['--version', '15'], ['--no-such-flag'], ['--no-such=1']]
  for (const command of visibleCommands().filter(({ parent }) => parent !== null)) {
    const words = pathTo(command)
    const name = words.slice(0, depthOf(command))
    for (const flags of strangers.filter(([flag]) => !command.options.some(({ long }) => long === flag))) {
      let count = 0
      const line = [...name, ...flags, ...words.slice(name.length)]
      const parsing = programThat(() => (count += 1)).parseAsync(line, { from: 'user' })
      await assert.rejects(parsing, { exitCode: 2 }, line.join(' '))
      assert.equal(count, 0, line.join(' '))
    }
  }
})

test('every command takes the global flags, before and after its name', async () => {
  const globals = ['--server', 'https://example.com', '--token-file', '-', '--json', '--no-color']
  for (const command of visibleCommands().filter(({ parent }) => parent !== null)) {
    const words = pathTo(command)
    const name = words.slice(0, depthOf(command))
    for (const line of [
      [...globals, ...words],
      [...name, ...globals, ...words.slice(name.length)],
    ]) {
      let count = 0
      const program = programThat(() => (count += 1))
      await program.parseAsync(line, { from: 'user' })
      const { server, tokenFile, json } = program.opts()
      assert.deepEqual(
        [count, server, tokenFile, json],
        [1, 'https://example.com', '-', true],
        line.join(' '),
      )
    }
  }
})

test('a flag of a command is not offered by its subcommands', async () => {
  const parse = (...words: string[]) => programThat(() => undefined).parseAsync(words, { from: 'user' })
  await assert.rejects(parse('env', 'set', '--show', 'shop', 'A=1'), { message: "unknown option '--show'" })
  await parse('env', '--show', 'shop')
})

test('arguments after the name of a datastore go to its client', async () => {
  const words: unknown[] = []
  const berth = new BerthCommand('berth', () => async (...given: unknown[]) => {
    words.push(given.slice(0, 2))
  })
  const program = buildProgram(berth)
  await program.parseAsync(['db', 'psql', 'shop-db', '-c', 'select 1', '--version'], { from: 'user' })
  assert.deepEqual(words, [['shop-db', ['-c', 'select 1', '--version']]])
})
