// git's standard error as the lines of a log.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgress } from '../../src/git/progress.ts'

function readAll(pieces: string[]): { lines: string[]; said: string[] } {
  const lines: string[] = []
  const progress = createProgress((line) => lines.push(line))
  for (const piece of pieces) progress.write(piece)
  progress.end()
  return { lines, said: progress.outputLines() }
}

test('of a progress line that git rewrites only the last state is shown, for any chunks', () => {
  const text =
    'remote: Counting objects:  50% (1/2)\rremote: Counting objects: 100% (2/2), done.        \n' +
    'Receiving objects:  50% (1/2)\rReceiving objects: 100% (2/2), 1.2 KiB, done.\n'
  const lines = [
    'remote: Counting objects: 100% (2/2), done.',
    'Receiving objects: 100% (2/2), 1.2 KiB, done.',
  ]

  assert.deepEqual(readAll([text]).lines, lines)
  assert.deepEqual(readAll([...text]).lines, lines)
})

test('git messages about refs and failures are kept for the reason and not shown as progress', () => {
  const { lines, said } = readAll([
    'From https://example.com/web\n * branch main -> FETCH_HEAD\nfatal: no',
    ' way',
  ])

  assert.deepEqual(lines, [])
  assert.deepEqual(said, ['From https://example.com/web', ' * branch main -> FETCH_HEAD', 'fatal: no way'])
})

test('a line that ends with CR LF, as from ssh, is one line', () => {
  const text = 'ssh: Could not resolve hostname a\r\nfatal: Could not read from remote repository.\n'
  const lines = ['ssh: Could not resolve hostname a', 'fatal: Could not read from remote repository.']

  assert.deepEqual(readAll([text]).said, lines)
  assert.deepEqual(readAll([...text]).said, lines)
})

test('a remote cannot send commands to the terminal of the reader', () => {
  const { lines } = readAll(['remote: \u001b[31mred\u0007\u001b]0;title\n'])

  assert.deepEqual(lines, ['remote:  [31mred  ]0;title'])
})
