// Finds the line of an output that contains the error, in the formats of common runtimes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createExcerpt, namesError } from '../src/error-line.ts'

const telling = [
  "Error: Cannot find module 'expres'",
  'TypeError: x is not a function',
  'Error [ERR_MODULE_NOT_FOUND]: Cannot find package',
  "ModuleNotFoundError: No module named 'flask'",
  'Uncaught Error: nothing works',
  'java.lang.IllegalStateException: no port',
  'Exception in thread "main" java.lang.NoClassDefFoundError: x',
  'panic: runtime error: invalid memory address',
  'fatal: not a git repository',
  'FATAL:  password authentication failed for user "shop"',
  "app.rb:1:in `require': cannot load such file -- rack (LoadError)",
  "thread 'main' panicked at src/main.rs:2:5:",
  'PHP Fatal error:  Uncaught Error: Call to undefined function x()',
  'nginx: [emerg] host not found in upstream "db"',
  '2026-11-22 15:00:00 | ERROR | cannot connect',
  '[error] no such table',
  '\u001b[31mError: in colour\u001b[39m',
  '\u001b]8;;https://example.com\u0007Error: in a link\u001b]8;;\u0007',
  '\u001b]0;title\u001b\\\u001b(BError: after a title',
  '#7 0.412 npm error code ERESOLVE',
  '0.412 npm ERR! code E404',
]
const silent = [
  '    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)',
  'compiled with 0 errors',
  'the error handler is registered',
  'added error-ex@1.3.2',
  'Traceback (most recent call last):',
  'Listening on 3000',
  '',
]

test('the line that names an error is recognized for common runtimes', () => {
  for (const line of telling) assert.equal(namesError(line), true, line)
  for (const line of silent) assert.equal(namesError(line), false, line)
})

test('the first one is kept even if the trace after it fills the output', () => {
  const excerpt = createExcerpt(3)
  for (const line of ['throw err', 'Error: first', 'Error: second', 'at a', 'at b']) excerpt.add(line)
  assert.deepEqual(
    [excerpt.earlierError(), excerpt.lines()],
    ['Error: first', ['Error: second', 'at a', 'at b']],
  )
})

test('a line among the last lines is not repeated', () => {
  const excerpt = createExcerpt(3)
  for (const line of ['begin', 'Error: first', 'at a', 'at b']) excerpt.add(line)
  assert.deepEqual([excerpt.earlierError(), excerpt.lines()], [null, ['Error: first', 'at a', 'at b']])
  excerpt.add('at c')
  assert.equal(excerpt.earlierError(), 'Error: first')
})
