// What the start script of a package.json does, and which file an app without one starts with.
import { extname } from 'node:path'
import type { Tree } from '../../tree.ts'
import type { Manifest } from './manifest.ts'

/** Programs, and the arguments with which they serve sources or pages to a developer; `-` stands for none. */
const developmentServers = [
  ['serve http-server live-server browser-sync parcel webpack-dev-server', '*'],
  ['vite', '- dev serve preview start'],
  ['react-scripts react-app-rewired craco docusaurus expo vinxi nest sanity', 'start dev'],
  ['ng vue-cli-service webpack rspack rsbuild hexo ember umi meteor', 'serve server s dev run'],
  ['eleventy @11ty/eleventy', '--serve'],
  ['next nuxt nuxi astro remix react-router vitepress vuepress', 'dev preview vite:dev'],
  ['gatsby svelte-kit preact stencil', 'dev develop serve watch'],
  // They start all packages of a workspace.
  ['turbo nx lerna', 'start run dev serve run-many'],
].map(([programs = '', commands = '']) => ({ programs: programs.split(' '), commands: commands.split(' ') }))

/** The commands of a script, with those of the scripts that it calls. */
export function listCommands({ scripts }: Manifest, text: string, seen = new Set<string>()): string[] {
  return text.split(/&&|\|\||[;|&\n]/).flatMap((part) => {
    const [before = ''] = /^((cross-env|npx|env|exec|dotenv|--|\w+=\S*)\s+)*/.exec(part.trim()) ?? []
    const command = part.trim().slice(before.length)
    const [, called = ''] = /^(?:npm|pnpm|yarn|bun) (?:run )?([\w:.-]+)/.exec(command) ?? []
    const script = seen.has(called) ? undefined : scripts[called]
    seen.add(called)
    const wrappers = before.match(/\b(cross-env|dotenv)\b/g) ?? []
    return [...wrappers, ...(script ? listCommands({ scripts } as Manifest, script, seen) : [command])]
  })
}

/** The command of a development server in a script: `react-scripts start`. */
export function findDevelopmentServer(manifest: Manifest, script: string): string | null {
  return listCommands(manifest, script).find(isDevelopmentServer) ?? null
}

const notForServers: [command: RegExp, problem: string][] = [
  [/^electron(-\w+)?\b/, 'starts an app with windows of its own (Electron), and a server has no screen'],
  [/^wrangler\b/, 'is for development on Cloudflare, and what it runs needs the platform'],
  [/^(react-native|cordova|capacitor|ionic cap)\b/, 'is for an app of a phone'],
]

/** Why a script cannot start a server, whatever else the source has. */
export function findObstacle(manifest: Manifest, script: string): string | null {
  for (const command of listCommands(manifest, script)) {
    const [, problem] = notForServers.find(([words]) => words.test(command)) ?? []
    if (problem) return `the start script in package.json (${command}) ${problem}`
  }
  return null
}

/** What it starts goes on in the background, so the instance would end. */
export function isDetached(manifest: Manifest, script: string): boolean {
  return listCommands(manifest, script).some((command) =>
    /^(pm2 (start|restart|reload)|forever start)\b/.test(command),
  )
}

/** It serves pages to anyone, which is all that an app without a framework may need. */
export function isPageServer(command: string): boolean {
  return /^(serve|http-server)\b/.test(command)
}

function isDevelopmentServer(command: string): boolean {
  const [program = '', first = '-'] = command.split(/\s+/)
  const argument = /^-(?!-serve)/.test(first) ? '-' : first
  return developmentServers.some(
    ({ programs, commands }) =>
      programs.includes(program) && (commands.includes('*') || commands.includes(argument)),
  )
}

/** Whether Bun runs it. */
export function usesBun(manifest: Manifest, command: string): boolean {
  return usesManager(manifest, 'bunx?', command)
}

export function usesManager(manifest: Manifest, program: string, command: string): boolean {
  const [, script] = /\b(?:npm|bun|pnpm|yarn) (?:run )?([\w:.-]+)$/.exec(command) ?? []
  const text = [command, script ? manifest.scripts[script] : ''].join('\n')
  return new RegExp(`\\b${program}\\b`).test(text)
}

const builtIn = new Set('node npm npx sh bash cd echo exit sleep true bun srvx'.split(' '))

/** What a command may need of the packages for development. Most programs are named like their packages. */
export function findNeeded(manifest: Manifest, command: string): string | null {
  const development = listWords(manifest.devDependencies)
  const installed = listWords(manifest.dependencies)
  const commands = listCommands(manifest, command).map((text) => text.split(/[\s=/]+/))
  const isKnown = (word: string) =>
    builtIn.has(word) || [word, ...word.split('-')].some((part) => installed.has(part))
  const named = commands.flat().find((word) => development.has(word) && !isKnown(word))
  const program = commands.map(([first = '.']) => first).find((first) => first !== '.' && !isKnown(first))
  return named ?? program ?? null
}

function listWords(packages: Record<string, string>): Set<string> {
  const programs = Object.keys(packages).filter((name) => !name.startsWith('@types/'))
  return new Set(programs.flatMap((name) => name.split('/')))
}

/** The port that a command names. */
export function findPort(manifest: Manifest, command: string): number | null {
  const texts = [command, ...listCommands(manifest, command)]
  const [, port] = /(?:\s--(?:port|listen)[= ]|\s-[lp][= ]?|\bPORT=)(\d{2,5})\b/.exec(texts.join('\n')) ?? []
  return port === undefined ? null : Number(port)
}

const browserWords =
  /\bdocument\.(getElementById|querySelector|createElement|body|addEventListener)\b|\bcreateRoot\(/

/** Node.js has no page. */
function isForBrowser(text: string): boolean {
  return browserWords.test(text)
}

const mainNames = ['server', 'index', 'app', 'main', 'start']
const scripts = ['js', 'mjs', 'cjs']
const typescript = ['ts', 'mts']

export function findMain(
  tree: Tree,
  { main }: Manifest,
  runsTypescript: boolean,
): { file: string; reason: string } | null {
  const extensions = runsTypescript ? [...scripts, ...typescript] : scripts
  const named = main && tree.first(main, ...extensions.map((extension) => `${main}.${extension}`))
  if (named) return { file: named, reason: 'main in package.json' }
  const usual = ['', 'src/'].flatMap((folder) =>
    mainNames.flatMap((name) => extensions.map((extension) => `${folder}${name}.${extension}`)),
  )
  const file = usual.find((path) => tree.has(path) && !isForBrowser(tree.text(path)))
  if (file) return { file, reason: 'a usual name for the file of a server' }
  const programs = tree
    .find(/^[\w-]+\.[cm]?[jt]s$/)
    .filter((path) => extensions.includes(extname(path).slice(1)) && !isForBrowser(tree.text(path)))
  const [only, another] = programs
  return only && !another ? { file: only, reason: 'the only program at the top' } : null
}
