// Rules about where files are, and which files must exist together.
import type { Expression, ObjectPropertyKind } from 'oxc-parser'
import { importsOf, nameOf, visit } from './syntax.ts'
import { type Finding, linesOf, product, type Rule, sources, type Tree } from './tree.ts'

const topLevel = new Set([
  'src',
  'machines',
  'storage',
  'test',
  'systemd',
  'docs',
  '.ci',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  '.gitignore',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'biome.json',
])
const drawers = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'services', 'managers', 'types'])

export const topLevelIsFixed: Rule = (tree) => {
  const names = new Set([...tree.keys()].map((path) => path.split('/')[0] ?? ''))
  const strangers = [...names].filter((name) => !topLevel.has(name))
  return strangers.map((path) => ({ path, line: 1, text: 'does not belong at the top level' }))
}

export const foldersAreNouns: Rule = (tree) => {
  const folders = [...tree.keys()].flatMap((path) => path.split('/').slice(0, -1))
  const found = [...new Set(folders)].filter((folder) => drawers.has(folder))
  return found.map((path) => ({ path, line: 1, text: 'is a folder for anything: name what is in it' }))
}

/** The product only: the entry of a test drill is a file next to the folder of its parts. */
export const indexFilesAreInside: Rule = (tree) => {
  const paths = sources(tree, product).map(([path]) => path)
  return paths.flatMap((path) => {
    const folder = path.replace(/\.tsx?$/, '/')
    const isBeside = paths.some((other) => other.startsWith(folder))
    return isBeside ? [{ path, line: 1, text: `belongs into ${folder}` }] : []
  })
}

export const actorKindsAreWhole: Rule = (tree) => {
  const path = 'machines/index.ts'
  const kinds = kindsOf(tree)
  if (!kinds) return [{ path, line: 1, text: 'exports no object `catalogue`' }]
  const gaps = kinds.flatMap((kind) => {
    const parts = [`machines/${kind}.ts`, `src/effects/${kind}.ts`, `test/machines/${kind}.test.ts`]
    const missing = parts.filter((part) => !tree.has(part) && !tree.has(inOwnFolder(part, kind)))
    const readme = 'machines/README.md'
    if (!hasWord(tree.get(readme) ?? '', kind)) missing.push(`a line in the list of ${readme}`)
    return missing.map((part) => ({ path, line: 1, text: `the kind ${kind} lacks ${part}` }))
  })
  return [...gaps, ...chartsOutside(tree, kinds)]
}

/** A kind of several files has a folder: `machines/deploy/deploy.ts`. */
function inOwnFolder(path: string, kind: string): string {
  return path.replace(`/${kind}.`, `/${kind}/${kind}.`)
}

export const versionsAreExact: Rule = (tree) =>
  dependenciesOf(tree).flatMap(({ name, version, line }) => {
    const isExact = /^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version)
    return isExact ? [] : [{ path: 'package.json', line, text: `${name} is wanted as ${version}: pin it` }]
  })

export const dependenciesAreExplained: Rule = (tree) => {
  const page = 'docs/development.md'
  const rows = linesOf(tree.get(page) ?? '').filter((line) => line.startsWith('|'))
  const explained = new Set(rows.flatMap((row) => (row.split('|')[1] ?? '').split(/[\s,`*[\]]+/)))
  const silent = dependenciesOf(tree).filter(
    ({ name }) => !name.startsWith('@types/') && !explained.has(name),
  )
  return silent.map(({ name, line }) => ({
    path: 'package.json',
    line,
    text: `${page} does not say what ${name} is for`,
  }))
}

function kindsOf(tree: Tree): string[] | null {
  let kinds: string[] | null = null
  visit('machines/index.ts', tree.get('machines/index.ts') ?? '', {
    VariableDeclarator({ id, init }) {
      if (nameOf(id) !== 'catalogue' || !init) return
      const object = unwrap(init)
      if (object.type === 'ObjectExpression') kinds = object.properties.map(keyOf)
    },
  })
  return kinds
}

function keyOf(property: ObjectPropertyKind): string {
  return property.type === 'Property' ? nameOf(property.key) : ''
}

// `{ … } satisfies X as const` is still `{ … }`.
function unwrap(expression: Expression): Expression {
  const isWrapped = expression.type === 'TSSatisfiesExpression' || expression.type === 'TSAsExpression'
  return isWrapped ? unwrap(expression.expression) : expression
}

function chartsOutside(tree: Tree, kinds: string[]): Finding[] {
  const strangers = sources(tree, ['machines/']).filter(([path, text]) => {
    const isChart = importsOf(path, text).some(
      ({ from, names }) => from === 'xstate' && names.includes('setup'),
    )
    const isOf = (kind: string) => {
      const chart = `machines/${kind}.ts`
      return path === chart || path === inOwnFolder(chart, kind)
    }
    return isChart && !kinds.some(isOf)
  })
  return strangers.map(([path]) => ({ path, line: 1, text: 'is a chart that the catalogue does not list' }))
}

// The lines of the section begin with the name of a kind.
function hasWord(readme: string, word: string): boolean {
  const [, section = ''] = readme.split(/^## The kinds$/m)
  const [list = ''] = section.split(/^#+ /m)
  const first = new RegExp(`^[-*|\\s\`]*${word.replace('-', '[- ]')}\\b`, 'i')
  return list.split('\n').some((line) => first.test(line))
}

interface Dependency {
  name: string
  version: string
  line: number
}

function dependenciesOf(tree: Tree): Dependency[] {
  const text = tree.get('package.json') ?? '{}'
  const { dependencies = {}, devDependencies = {} }: Record<string, Record<string, string>> = JSON.parse(text)
  const lines = linesOf(text)
  return Object.entries({ ...dependencies, ...devDependencies }).map(([name, version]) => ({
    name,
    version,
    line: lines.findIndex((line) => line.includes(`"${name}":`)) + 1,
  }))
}
