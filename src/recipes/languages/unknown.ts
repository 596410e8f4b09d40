// Languages and generators that no recipe knows yet, so that a refusal can say what it saw.
import { refuse } from '../recipe.ts'
import type { Tree } from '../tree.ts'
import type { Language } from './language.ts'

/** Some files show it only next to others, as `config.toml`. */
const known: [name: string, shows: RegExp, together?: RegExp][] = [
  ['Elixir', /^mix\.exs$/],
  ['.NET', /^([^/]+\/)?[^/]+\.(csproj|fsproj|vbproj|sln|slnx)$/],
  ['Gleam', /^gleam\.toml$/],
  ['C or C++', /^(CMakeLists\.txt|meson\.build)$/],
  ['Hugo', /^(config\/_default\/)?hugo\.(toml|ya?ml|json)$/],
  ['Zola', /^config\.toml$/, /^templates\/.*\.html$/],
  ['Hugo', /^(config\/_default\/)?config\.(toml|ya?ml|json)$/, /^(content|themes|layouts|archetypes)\//],
  ['Jekyll', /^_config\.ya?ml$/],
  ['MkDocs', /^mkdocs\.ya?ml$/],
  ['Scala', /^build\.sbt$/],
  ['Clojure', /^(project\.clj|deps\.edn)$/],
  ['Swift', /^Package\.swift$/],
  ['Haskell', /^(stack\.yaml|[^/]+\.cabal)$/],
  ['Dart', /^pubspec\.yaml$/],
  ['Crystal', /^shard\.yml$/],
  ['OCaml', /^dune-project$/],
  ['Zig', /^build\.zig$/],
  ['Perl', /^cpanfile$/],
  ['R', /^renv\.lock$/],
]

export const unknown: Language = {
  evidence: [],
  isHere: (app) => find(app) !== null,
  draft({ app }) {
    const { name, path } = find(app) ?? { name: '', path: '' }
    return refuse(`${name} is not known yet (there is ${path})`)
  },
}

function find(app: Tree): { name: string; path: string } | null {
  for (const [name, shows, together] of known) {
    const [path] = app.find(shows).sort((one, other) => one.split('/').length - other.split('/').length)
    if (path !== undefined && (!together || app.find(together).length > 0)) return { name, path }
  }
  return null
}
