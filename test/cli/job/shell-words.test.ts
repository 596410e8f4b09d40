// Words that go through a shell elsewhere; job-runs.test.ts has a real one find them again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toShellCommand } from '../../../src/cli/commands/jobs.ts'

test('one word is used as the command, and no words are no command', () => {
  assert.equal(toShellCommand(['echo $HOME | wc -c']), 'echo $HOME | wc -c')
  assert.equal(toShellCommand([]), '')
})

test('of several words the plain ones stay readable, and the others are quoted', () => {
  assert.equal(toShellCommand(['npm', 'run', 'db:migrate', '--all']), 'npm run db:migrate --all')
  assert.equal(toShellCommand(['A=1', "it's", '', 'a b']), `'A=1' 'it'\\''s' '' 'a b'`)
  assert.equal(toShellCommand(['ls', '~', '*', '#', 'ü']), "ls '~' '*' '#' 'ü'")
})
