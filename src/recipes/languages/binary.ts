// A compiled program: where it is put, and the files that it may read.
import { posix } from 'node:path'
import { quote } from '../../domain/shell-word.ts'
import { appUser, copyFrom, type Reasoned, run, type Step, workdir } from '../recipe.ts'
import type { Tree } from '../tree.ts'

/** For what is built. The last stage has its folder `out` as /app. */
export const sourceFolder = '/src'

/** Only what is built is in the image, so `go run` and `cargo run` cannot be. */
export function ownCommand(wish: Reasoned | null): Reasoned | null {
  return wish && /^(go|cargo)\s+run\b/.test(wish.command) ? null : wish
}

/** In /out, at the path that the start command expects, or in `bin`. */
export function placeBinary(tree: Tree, name: string, wish: Reasoned | null): string {
  const [word = ''] = wish?.command.split(/\s+/) ?? []
  const path = posix.relative('/app', posix.resolve('/app', word))
  const isExpected = /^[\w./-]*\/[\w./-]+$/.test(word) && !path.startsWith('..') && !tree.has(path)
  return isExpected ? path : `bin/${name}`
}

/** The program that a start command names by its last part: `./server -v`. */
export function findNamed(names: string[], wish: Reasoned | null): string | null {
  const words = wish?.command.split(/\s+/).map((word) => posix.basename(word)) ?? []
  return names.find((name) => words.includes(name)) ?? null
}

/** For the last stage. */
export const copyProgram: Step[] = [copyFrom('build', ['/out'], '/app', appUser), workdir('/app')]

/** Next to the program, files that are no sources, as templates, but for those that .dockerignore names. */
export function placeData(tree: Tree, folder: string): Step[] {
  // In a workspace, programs are run in their folder or at the top.
  return [...new Set(['', folder])].flatMap((one) => {
    const paths = dataPaths(tree.in(one)).map(quote).join(' ')
    const each = `for path in ${paths}; do if [ -e "$path" ]; then cp -r "./$path" /out/; fi; done`
    return paths === '' ? [] : [run(`cd ${quote(posix.join(sourceFolder, one))} && ${each}`)]
  })
}

const notData = /\.(go|rs|md)$|^(go\.(mod|sum|work|work\.sum)|Cargo\.(toml|lock)|[A-Z][A-Za-z]+)$/
const notRead = /^([._].*|target|vendor|tests?|testdata|benches|examples?|docs?|.*[Dd]ocker.*)$/
const ofHosts = /^(fly\.toml|render\.yaml|railway\.(json|toml)|app\.json|mise\.toml|rust-toolchain(\.toml)?)$/

/** Names at the top, in order. A folder counts if a file in it does. */
function dataPaths(tree: Tree): string[] {
  const paths = [...tree.files].filter((path) => !notData.test(posix.basename(path)))
  const tops = new Set(paths.map((path) => path.split('/')[0] ?? ''))
  return [...tops].filter((top) => !notRead.test(top) && !ofHosts.test(top)).sort()
}
