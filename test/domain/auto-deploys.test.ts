// Which commits ask for no deploy, and which paths a service watches.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asksForNoDeploy, patternProblem, tagPatternProblem } from '../../src/domain/auto-deploys.ts'
import { firstWatchedPath } from '../../src/domain/watched-paths.ts'

test('a message asks for no deploy in brackets, in any case, anywhere', () => {
  for (const message of ['[skip deploy] docs', 'docs [Deploy Skip]', 'Docs\n\nDetails\n[SKIP DEPLOY]'])
    assert.equal(asksForNoDeploy(message, false), true, message)
  for (const message of ['skip deploy', '[skip ci]', '[skipdeploy]', ''])
    assert.equal(asksForNoDeploy(message, false), false, message)
  for (const message of ['[skip ci] docs', 'docs [CI skip]', '[no ci]', '[skip deploy]'])
    assert.equal(asksForNoDeploy(message, true), true, message)
})

const paths = ['README.md', 'apps/api/main.ts', 'apps/api/docs/a.md', 'lib/a b.ts', 'Lib/ü.ts']

test('patterns are those of .gitignore, from the top of the repository', async () => {
  const cases: [patterns: string[], first: string | null][] = [
    [['apps/api/**'], 'apps/api/main.ts'],
    [['apps/api'], 'apps/api/main.ts'],
    [['/api/**'], null],
    [['*.md'], 'README.md'],
    [['*.md', '!README.md'], 'apps/api/docs/a.md'],
    [['lib/**'], 'lib/a b.ts'],
    [['**/ü.ts'], 'Lib/ü.ts'],
    [['docs/'], 'apps/api/docs/a.md'],
    [['web/**'], null],
  ]
  for (const [patterns, first] of cases)
    assert.equal(firstWatchedPath({ patterns, paths }), first, patterns[0])
  assert.equal(firstWatchedPath({ patterns: ['apps/**'], paths: [] }), null)
})

test('a pattern that can match nothing is named', () => {
  assert.equal(patternProblem('api/**'), null)
  assert.match(patternProblem('api/**,lib/**')!, /comma: each path is an item/)
  assert.match(patternProblem('./api')!, /without \.\//)
  assert.match(patternProblem('packages//x/**')!, /an empty name between two slashes/)
  for (const pattern of ['[a', 'a[', '[[:alpha:]]'])
    assert.match(patternProblem(pattern)!, /a \[ without its ]/)
  assert.equal(patternProblem('[]a]*.ts'), null)
})

test('a pattern of tags that can match nothing, or costs too much, is named', () => {
  for (const pattern of ['v*', 'api-v?.*', 'release/*', 'ü'])
    assert.equal(tagPatternProblem(pattern), null, pattern)
  for (const pattern of ['v*,w*', 'v *', 'v*^{}', 'v~1', 'a:b', '*a*a*a*'])
    assert.notEqual(tagPatternProblem(pattern), null, pattern)
})
