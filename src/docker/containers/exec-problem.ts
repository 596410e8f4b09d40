// Finds out why a container could not run its command, by looking at the files that it names. The engine and
// its init process say "no such file" for a missing interpreter too.
import { readdir } from 'node:fs/promises'
import { posix } from 'node:path'
import type { Container } from 'dockerode'
import { type Engine, orNull } from '../engine/client.ts'
import { inspectImage } from '../images/images.ts'
import { readArchive } from './archive-entries.ts'
import type { InspectedContainer } from './find-container.ts'

export interface ExecProblem {
  text: string
  /** `absent`: there is no such file. `foreign`: it is for another processor. `path`: see `Scope`. */
  kind: 'absent' | 'foreign' | 'path' | 'other'
}

interface FileFacts {
  path: string
  mode: number
  isDirectory: boolean
  start: Buffer
}

interface Files {
  /** Follows links; null if there is no such file. */
  read(path: string): Promise<FileFacts | null>
  exists(path: string): Promise<boolean>
}

interface Scope {
  files: Files
  /** Of the host, as `uname -m` says it. */
  architecture: string
  /** The value of PATH. */
  path: string
  /** That of the image, if the env of the service sets another one. */
  replacedPath: string | null
  workingDir: string
}

/** What Docker says of a path in its header `X-Docker-Container-Path-Stat`. */
interface PathStat {
  mode: number
  linkTarget: string
}

const startBytes = 4096
const maxLinks = 10
/** Each folder of PATH costs a request to the engine. Usual ones have some 100 characters. */
const maxPathLength = 2000
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** Go's `os.ModeDir` and `os.ModeSymlink`. */
const directoryBit = 0x80000000
const linkBit = 0x08000000

/** Null if the command itself can be run: then it was something that the command ran. */
export async function findExecProblem(
  engine: Engine,
  { container, info }: InspectedContainer,
): Promise<ExecProblem | null> {
  const { architecture } = await engine.info()
  const path = readPath(info.Config.Env)
  const imagePath = readPath((await inspectImage(engine, info.Image))?.env ?? info.Config.Env)
  const scope: Scope = {
    files: openFiles(engine, container),
    architecture,
    path,
    replacedPath: path === imagePath ? null : imagePath,
    workingDir: info.Config.WorkingDir || '/',
  }
  const program = await findProgramProblem(scope, info.Path)
  const [flag, script = ''] = info.Args
  if (!isShell(info.Path) || flag !== '-c') return program
  if (program?.kind === 'absent' && info.Path === 'sh') return { ...program, text: 'the image has no shell' }
  const word = program === null ? firstCommand(script) : null
  return word === null ? program : findProgramProblem(scope, word)
}

/** Tries each folder of PATH, as `execvp` and shells do, and names the first file that could not be run. */
async function findProgramProblem(scope: Scope, program: string): Promise<ExecProblem | null> {
  const isPath = program.includes('/')
  let first: ExecProblem | null = null
  for (const path of isPath ? [posix.resolve(scope.workingDir, program)] : pathsOf(scope, program)) {
    const file = await scope.files.read(path)
    if (file === null) continue
    const problem = await findFileProblem(scope, file)
    if (problem === null) return null
    first ??= problem
  }
  if (first !== null) return first
  const text = `there is no '${program}' in ${isPath ? 'the image' : `PATH (${scope.path})`}`
  const isReplaced = !isPath && (await isInReplacedPath(scope, program))
  const cause = `${text}: the env sets PATH, which replaces that of the image`
  return isReplaced ? { text: cause, kind: 'path' } : { text, kind: 'absent' }
}

async function isInReplacedPath(scope: Scope, program: string): Promise<boolean> {
  if (scope.replacedPath === null) return false
  const paths = pathsOf({ ...scope, path: scope.replacedPath }, program)
  for (const path of paths) if (await scope.files.exists(path)) return true
  return false
}

function pathsOf({ workingDir, path }: Pick<Scope, 'workingDir' | 'path'>, name: string): string[] {
  return path.split(':').map((folder) => posix.resolve(workingDir, folder, name))
}

async function findFileProblem(scope: Scope, file: FileFacts): Promise<ExecProblem | null> {
  const { path, mode, isDirectory, start } = file
  if (isDirectory) return { text: `${path} is a directory`, kind: 'other' }
  if ((mode & 0o111) === 0)
    return { text: `${path} has no execute permission: RUN chmod +x ${path}`, kind: 'other' }
  if (isBinary(start)) return findBinaryProblem(scope, path, start)
  const [line = ''] = start.toString('utf8').split('\n', 1)
  if (!line.startsWith('#!')) return null
  const words = line.slice(2).trim()
  if (!line.endsWith('\r')) return findInterpreterProblem(scope, path, words.split(/[ \t]+/))
  const problem = `so its interpreter '${words}\\r' does not exist`
  return { text: `${path} has Windows line endings, ${problem}`, kind: 'other' }
}

/** `#!/bin/bash`, or `#!/usr/bin/env -S node`. */
async function findInterpreterProblem(
  scope: Scope,
  script: string,
  [interpreter = '', ...args]: string[],
): Promise<ExecProblem | null> {
  const what = (name: string) => `${name}, the interpreter of ${script},`
  const absent = (name: string): ExecProblem => ({ text: `${what(name)} is not in the image`, kind: 'other' })
  const inFile = ({ path, start }: FileFacts) =>
    isBinary(start) ? findBinaryProblem(scope, what(path), start) : null
  const file = await scope.files.read(posix.resolve(scope.workingDir, interpreter))
  if (file === null) return absent(interpreter)
  const name = args.find((argument) => !argument.startsWith('-') && !argument.includes('='))
  const hasOwnPath = args.some((argument) => argument.startsWith('PATH='))
  if (posix.basename(interpreter) !== 'env' || name === undefined || name.includes('/') || hasOwnPath)
    return inFile(file)
  for (const path of pathsOf(scope, name)) {
    const named = await scope.files.read(path)
    if (named !== null) return inFile(named)
  }
  return absent(name)
}

function isBinary(start: Buffer): boolean {
  return start.subarray(0, 4).toString('latin1') === '\x7fELF'
}

/** The machines of ELF's header, by the names that people and `uname` use. */
const machines = new Map([
  [3, { name: 'i386', runsOn: ['i386', 'i686', 'x86_64'] }],
  [40, { name: 'arm', runsOn: ['armv7l', 'armv6l', 'aarch64'] }],
  [62, { name: 'amd64', runsOn: ['x86_64'] }],
  [183, { name: 'arm64', runsOn: ['aarch64'] }],
  [243, { name: 'riscv64', runsOn: ['riscv64'] }],
])

async function findBinaryProblem(
  { files, architecture }: Scope,
  what: string,
  start: Buffer,
): Promise<ExecProblem | null> {
  const machine = start.length < 20 ? undefined : machines.get(start.readUInt16LE(18))
  if (machine !== undefined && !machine.runsOn.includes(architecture) && !(await hasEmulator()))
    return {
      text: `${what} is a program for ${machine.name}, and this host is ${architecture}`,
      kind: 'foreign',
    }
  const loader = readLoader(start)
  if (loader === null || (await files.exists(loader))) return null
  const problem = `needs ${loader}, which is not in the image: it was built for another distribution`
  return { text: `${what} ${problem}`, kind: 'other' }
}

/** With QEMU in `binfmt_misc`, the kernel runs programs for other processors too. */
async function hasEmulator(): Promise<boolean> {
  const names = await readdir('/proc/sys/fs/binfmt_misc').catch(() => [])
  return names.some((name) => /^(qemu-|rosetta)/.test(name))
}

/** The path of the dynamic loader (the segment PT_INTERP); null for a static program. */
function readLoader(start: Buffer): string | null {
  const is64Bit = start[4] === 2
  const isLittleEndian = start[5] === 1
  if (!is64Bit || !isLittleEndian || start.length < 64) return null
  const [offset, size, count] = [start.readBigUInt64LE(32), start.readUInt16LE(54), start.readUInt16LE(56)]
  for (let index = 0; index < count; index++) {
    const at = Number(offset) + index * size
    if (at + 56 > start.length) return null
    if (start.readUInt32LE(at) !== 3) continue
    const [from, length] = [Number(start.readBigUInt64LE(at + 8)), Number(start.readBigUInt64LE(at + 32))]
    const text = start.subarray(from, from + length).toString('latin1')
    return /^\/[\x21-\x7e]+\0$/.test(text) ? text.slice(0, -1) : null
  }
  return null
}

function readPath(env: string[] | null | undefined): string {
  return (
    (env ?? []).findLast((variable) => variable.startsWith('PATH='))?.slice('PATH='.length, maxPathLength) ||
    defaultPath
  )
}

function isShell(path: string): boolean {
  return ['sh', 'bash', 'ash', 'dash'].includes(posix.basename(path))
}

/** Words that a shell runs itself, of bash and of the shells of Debian and Alpine. */
const builtins = new Set(
  (
    '. alias bg bind break builtin caller case cd chdir command compgen complete compopt continue coproc ' +
    'declare dirs disown echo enable eval exit export false fc fg for function getopts hash help history ' +
    'if jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set ' +
    'shift shopt source suspend test time times trap true type typeset ulimit umask unalias unset until ' +
    'wait while'
  ).split(' '),
)

/** The first program that a shell script runs; null if that is not plain to see. */
function firstCommand(script: string): string | null {
  const words = script.trim().split(/\s+/, 20)
  const at = words.findIndex((candidate) => candidate !== 'exec' && !/^\w+=[\w./:-]*$/.test(candidate))
  const word = words[at] ?? ''
  const setsPath = words.slice(0, at).some((assignment) => assignment.startsWith('PATH='))
  return /^[\w./+][\w./+-]*$/.test(word) && !builtins.has(word) && !setsPath ? word : null
}

function openFiles(engine: Engine, container: Container): Files {
  async function stat(path: string, links = 0): Promise<{ path: string; mode: number } | null> {
    const look = (abortSignal: AbortSignal) => container.infoArchive({ path, abortSignal })
    const response = await orNull(engine.call(`look at ${path}`, look))
    if (response === null) return null
    const { mode, linkTarget } = parseStat(response)
    if ((mode & linkBit) === 0) return { path, mode }
    return links === maxLinks || linkTarget === '' ? null : stat(linkTarget, links + 1)
  }

  async function read(path: string): Promise<FileFacts | null> {
    const found = await stat(path)
    if (found === null) return null
    const isDirectory = (found.mode & directoryBit) !== 0
    return readArchive(engine, { container, path: found.path }, async (next) => {
      const entry = await next()
      if (entry.done) return null
      const start = isDirectory ? Buffer.alloc(0) : await readBytes(entry.value)
      return { path, mode: found.mode, isDirectory, start }
    })
  }

  return { read, exists: async (path) => (await stat(path)) !== null }
}

async function readBytes(entry: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of entry) {
    const piece = chunk as Buffer
    chunks.push(piece)
    bytes += piece.length
    if (bytes >= startBytes) break
  }
  return Buffer.concat(chunks).subarray(0, startBytes)
}

function parseStat(response: unknown): PathStat {
  const { headers } = response as { headers: Record<string, string | undefined> }
  const stat = Buffer.from(headers['x-docker-container-path-stat'] ?? '', 'base64').toString('utf8')
  return JSON.parse(stat) as PathStat
}
