// Reads the facts of an untrusted source: links are not followed, and the search is bounded.
import { constants, type Dirent } from 'node:fs'
import { type FileHandle, open, opendir } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import { Tree } from './tree.ts'

export interface Facts {
  /** The whole source. */
  top: Tree
  /** The folder of the app: what `root_dir` names, or the top. */
  app: Tree
  /** The path of the app's folder; empty for the top. */
  rootDir: string
}

const maxFiles = 20_000
const maxDepth = 8
const maxReadBytes = 256 * 1024
const maxTotalBytes = 8 * 1024 * 1024
/** Files or folders that are read together. */
const atOnce = 8
const skippedFolders = new Set(['.git', 'node_modules', '.venv', 'venv', '__pycache__', '.next', '.turbo'])

/** The files whose text rules read, at any depth: manifests, version files, configurations. */
const readNames = new Set(
  `package.json composer.json deno.json deno.jsonc turbo.json nx.json project.json angular.json app.json
  pnpm-workspace.yaml .yarnrc.yml .npmrc bunfig.toml mise.toml .tool-versions .nvmrc .node-version
  pyproject.toml Pipfile runtime.txt setup.py .python-version go.mod go.work Cargo.toml rust-toolchain
  rust-toolchain.toml Gemfile Gemfile.lock config.ru Rakefile .ruby-version .bun-version pom.xml
  build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle-wrapper.properties
  system.properties .java-version .sdkmanrc .go-version .php-version Cargo.lock Procfile Staticfile
  .dockerignore database.yml application.properties application.yml application.yaml`.split(/\s+/),
)

/** Lock files are large, and name their format at the top. */
const readHeads = new Set(['pnpm-lock.yaml', 'yarn.lock'])
const headBytes = 1024

/** And sources that may start an app, near the top. */
const readPatterns = [
  /(^|\/)(next|vite|astro|svelte|nuxt|remix|react-router|gatsby|vue|app|docusaurus)(\.config)?\.[cm]?[jt]s$/,
  /(^|\/)prisma\.config\.[cm]?[jt]s$/,
  /(^|\/)requirements([\w.-]*|\/[\w.-]+)\.txt$/,
  /^([^/]+\/){0,3}([^/]+\.py|[^/]+(?<!_test)\.go)$/,
  /^[^/]+\.sh$/,
  /^([^/]+\/){0,2}[^/]+\.(rb|php)$/,
]

/** And other programs, which may show where they keep data. */
const program = /^([^/]+\/){0,6}[^/]+(?<!\.min)\.([cm]?[jt]sx?|rb|php|rs|prisma)$/
const notProgram = /(^|\/)(public|static|assets|dist|build|vendor|tests?)\//

export interface ReadOptions {
  /** Relative to the directory, and inside it. */
  rootDir?: string
  /** The files of the source, if not all files of the directory are. */
  paths?: string[]
}

export async function readFacts(
  directory: string,
  { rootDir = '', paths }: ReadOptions = {},
): Promise<Facts> {
  const files = paths ?? (await listFiles(directory))
  const texts = new Map<string, string>()
  let totalBytes = 0
  const programs = files.filter((path) => program.test(path) && !notProgram.test(path))
  const wanted = [...new Set([...files.filter(isManifest), ...files.filter(isSource), ...programs])]
  for (let at = 0; at < wanted.length && totalBytes <= maxTotalBytes; at += atOnce) {
    const batch = wanted.slice(at, at + atOnce)
    const read = await Promise.all(batch.map((path) => readSmall(join(directory, path))))
    for (const [index, text] of read.entries()) texts.set(batch[index]!, text)
    totalBytes += read.join('').length
  }
  const top = new Tree(new Set(files), texts)
  const folder = posix.normalize(rootDir).replace(/^\.?\/?$|\/$/g, '')
  return { top, app: top.in(folder), rootDir: folder }
}

function isManifest(path: string): boolean {
  const name = posix.basename(path)
  return readNames.has(name) || readHeads.has(name)
}

function isSource(path: string): boolean {
  return readPatterns.some((pattern) => pattern.test(path))
}

/** Those nearest to the top first. */
async function listFiles(directory: string): Promise<string[]> {
  const files: string[] = []
  const folders = ['']
  // Each batch may add folders to the list.
  for (let at = 0; at < folders.length; ) {
    const batch = folders.slice(at, at + atOnce)
    at += batch.length
    const lists = await Promise.all(batch.map((folder) => listFolder(directory, folder)))
    for (const [index, entries] of lists.entries())
      for (const entry of entries) {
        const path = posix.join(batch[index]!, entry.name)
        if (entry.isFile() || entry.isSymbolicLink()) files.push(path)
        else if (entry.isDirectory() && !skippedFolders.has(entry.name) && path.split('/').length < maxDepth)
          folders.push(path)
        if (files.length + folders.length > maxFiles) return files
      }
  }
  return files
}

async function listFolder(directory: string, folder: string): Promise<Dirent[]> {
  const entries: Dirent[] = []
  // A name that is not UTF-8 cannot be opened by its text. Unreadable folders are skipped.
  for await (const entry of await opendir(join(directory, folder)).catch(() => []))
    if (entries.push(entry) > maxFiles) break
  return entries
}

async function readSmall(path: string): Promise<string> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch(() => null)
  if (file === null) return ''
  try {
    const stats = await file.stat()
    if (!stats.isFile()) return ''
    if (readHeads.has(basename(path))) return await readHead(file)
    if (stats.size > maxReadBytes) return ''
    // Long blanks would cost rules that look across them much time.
    return (await file.readFile('utf8')).replace(/^\uFEFF/, '').replace(/\s{200,}/g, '\n')
  } finally {
    await file.close()
  }
}

async function readHead(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
  return buffer.toString('utf8', 0, bytesRead)
}
