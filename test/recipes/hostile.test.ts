// Sources that want to harm: whatever their files say, a recipe is chosen or refused, and its Dockerfile has
// only lines that a recipe writes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { chooseRecipe, isRefusal, printDockerfile } from '../../src/recipes/index.ts'
import { treeOf } from '../../src/recipes/tree.ts'

const injected = 'INJECTED'
const evil = fc.constantFrom(
  `x\nRUN ${injected}`,
  `x\r\nUSER ${injected}`,
  `x\u2028RUN ${injected}`,
  `x\u0085RUN ${injected}`,
  `x \\`,
  `"; RUN ${injected} #`,
  '../../etc/passwd',
  '/etc/shadow',
  '__proto__',
  '$(touch /x)',
  'a'.repeat(5_000),
  '',
)
const value = fc.oneof(evil, fc.jsonValue({ maxDepth: 2 }))
const map = fc.dictionary(
  fc.oneof(evil, fc.constantFrom('node', 'start', 'build', 'web', 'next', 'php')),
  value,
)
const manifest = fc.record(
  {
    name: value,
    main: value,
    packageManager: value,
    engines: fc.oneof(value, map),
    scripts: fc.oneof(value, map, fc.record({ start: evil, build: evil })),
    dependencies: fc.oneof(value, map),
    devDependencies: fc.oneof(value, map),
    workspaces: fc.oneof(value, fc.array(evil)),
    require: fc.oneof(value, map),
    tasks: fc.oneof(value, map),
  },
  { requiredKeys: [] },
)
const jsonNames = ['package.json', 'composer.json', 'deno.json', 'turbo.json', 'nx.json', 'angular.json']
const textNames =
  `Procfile requirements.txt pyproject.toml Pipfile runtime.txt .python-version .nvmrc go.mod go.work
  Cargo.toml rust-toolchain Gemfile .ruby-version pom.xml build.gradle
  .tool-versions Staticfile .npmrc .yarnrc.yml
  pnpm-workspace.yaml .dockerignore app.py main.go next.config.js settings.gradle`.split(/\s+/)
const presentNames = [
  'index.html',
  'manage.py',
  'gradlew',
  'mvnw',
  'artisan',
  'config.ru',
  'package-lock.json',
]

const texts = fc
  .record({
    json: fc.dictionary(
      fc.constantFrom(...jsonNames),
      manifest.map((object) => JSON.stringify(object)),
    ),
    text: fc.dictionary(
      fc.constantFrom(...textNames),
      fc
        .array(
          fc.oneof(
            evil,
            fc.string(),
            evil.map((text) => `web: ${text}`),
            evil.map((text) => `name = "${text}"`),
            evil.map((text) => `go ${text}\nmodule ${text}`),
          ),
          { maxLength: 4 },
        )
        .map((lines) => lines.join('\n')),
    ),
    present: fc.dictionary(fc.constantFrom(...presentNames), fc.constant('')),
  })
  .map(({ json, text, present }) => ({ ...json, ...text, ...present }))

const instruction = /^(#|$|(FROM|WORKDIR|COPY|RUN|ENV|ARG|LABEL|EXPOSE|USER|CMD|ENTRYPOINT|STOPSIGNAL) )/

test('no text of a source adds an instruction, makes a recipe throw, or leaves the source', () => {
  fc.assert(
    fc.property(texts, (files) => {
      const tree = treeOf(files)
      const recipe = chooseRecipe({ top: tree, app: tree, rootDir: '' })
      if (isRefusal(recipe)) return
      const lines = printDockerfile(recipe).split(/\r\n|[\n\r\u0085\u2028\u2029]/)
      for (const line of lines) {
        assert.match(line, instruction)
        assert.doesNotMatch(line, /^(RUN|USER) INJECTED/)
        assert.ok(line.startsWith('#') || !line.endsWith('\\'), line)
        assert.doesNotMatch(line, /^COPY (?!--from).*(\.\.\/|\/etc)/)
      }
    }),
    { numRuns: 2_000 },
  )
})

/** A workspace of Cargo. */
function listCrates(folders: number): Record<string, string> {
  const crates = Array.from({ length: folders }, (_, index) => [
    [`c${index}/Cargo.toml`, `[package]\nname = "c${index}"`],
    [`c${index}/src/main.rs`, 'fn main() {}'],
  ])
  return { 'Cargo.toml': '[workspace]\nmembers = ["*"]', ...Object.fromEntries(crates.flat()) }
}

test('four times the source takes about four times the time', () => {
  const measure = (folders: number) => {
    const files = Object.fromEntries(
      Array.from({ length: folders }, (_, index) => [
        [`a${index}/package.json`, '{"scripts":{"start":"node a"}}'],
        [`a${index}/index.html`, ''],
      ]).flat(),
    )
    const patterns = Array.from({ length: folders }, (_, index) => `a${index}`)
    const trees = [
      treeOf(files),
      treeOf({ ...files, 'package.json': JSON.stringify({ workspaces: patterns }) }),
      treeOf(listCrates(folders)),
    ]
    const startedAt = performance.now()
    for (const tree of trees) chooseRecipe({ top: tree, app: tree, rootDir: '' })
    return performance.now() - startedAt
  }
  measure(500)
  const [small, large] = [measure(1_000), measure(4_000)]
  assert.ok(large < 12 * small, `${small} ms, then ${large} ms`)
})

test('the longest patterns of a workspace take about the time of short ones', () => {
  const folders = Array.from({ length: 10_000 }, (_, index) => [`a${index}/package.json`, '{}'])
  const measure = (pattern: string) => {
    const workspaces = Array.from({ length: 100 }, () => pattern)
    const tree = treeOf({ ...Object.fromEntries(folders), 'package.json': JSON.stringify({ workspaces }) })
    const { user: before } = process.cpuUsage()
    chooseRecipe({ top: tree, app: tree, rootDir: '' })
    return process.cpuUsage().user - before
  }
  measure('x/*')
  const short = measure('x/*')
  for (const long of [
    '/'.repeat(2_600),
    `${'x/'.repeat(1_200)}*`,
    `!${'*/'.repeat(1_200)}**`,
    '*'.repeat(2_600),
  ]) {
    const taken = measure(long)
    assert.ok(taken < 12 * short, `${taken} us, instead of ${short} us: ${long.slice(0, 5)}`)
  }
})
