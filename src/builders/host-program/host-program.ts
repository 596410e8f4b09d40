// Builders that are programs of the host, found on the PATH and never downloaded: railpack and pack. They
// load their image into the engine; it then gets the labels of the deploy.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { streamLines } from '../../docker/engine/stream-lines.ts'
import { Failure } from '../../errors.ts'
import { dropOomProtection, killGroup, markerVariable, reapProcesses } from '../../process-groups.ts'
import type { Builder, BuildJob } from '../builder.ts'
import { createGeneratedDirectory, resolveRoot } from '../source-folder.ts'
import { removeTree } from '../tree-image.ts'

interface ProgramInput {
  folder: string
  image: string
  /** Both programs take the value of a bare key from their environment, which no list of processes shows. */
  keys: string[]
  buildCommand: string | null
}

type ToArguments = (input: ProgramInput) => string[]

const pack: ToArguments = ({ folder, image, keys }) => {
  const options = ['--path', folder, '--pull-policy', 'if-not-present', '--no-color']
  return ['build', image, ...options, ...toEnvOptions(keys)]
}

const railpack: ToArguments = ({ folder, image, keys, buildCommand }) => {
  const options = ['--name', image, '--progress', 'plain', '--show-plan']
  const command = buildCommand === null ? [] : ['--build-cmd', buildCommand]
  return ['build', ...options, ...toEnvOptions(keys), ...command, folder]
}

function toEnvOptions(keys: string[]): string[] {
  return keys.flatMap((key) => ['--env', key])
}

export const hostPrograms: Builder[] = [toBuilder('railpack', railpack), toBuilder('pack', pack)]

function toBuilder(name: 'railpack' | 'pack', toArguments: ToArguments): Builder {
  return {
    name,
    detects: async ({ settings }) => settings.builder === name,
    build: (job) => buildWith(name, toArguments, job),
  }
}

async function buildWith(name: string, toArguments: ToArguments, job: BuildJob): Promise<void> {
  const values = await openValues(name, job)
  const input = {
    folder: await resolveRoot(job),
    image: job.tree.tag,
    keys: Object.keys(values),
    buildCommand: job.settings.build_command ?? null,
  }
  try {
    await runProgram(name, toArguments(input), values, job)
    await labelImage(job)
  } finally {
    await removeTree(job)
  }
}

/** Names that would change what the program itself does, on the host. */
const ownFamilies =
  'BERTH_ LD_ GLIBC_ GCONV_ DYLD_ MISE_ DOCKER_ BUILDKIT_ SSL_ SSH_ GIT_ XDG_ PACK_ CNB_ OTEL_'.split(' ')
const ownNames = /^(GO[A-Z]+|NODE_OPTIONS|ENV|BASH_ENV|PATH|HOME|TMPDIR|HOSTALIASES|\w+_PROXY)$/i

function isOwn(key: string): boolean {
  return ownNames.test(key) || ownFamilies.some((family) => key.startsWith(family))
}

async function openValues(name: string, { openInputs, log }: BuildJob): Promise<Record<string, string>> {
  const { secrets } = await openInputs()
  const kept = secrets.filter(({ key }) => !isOwn(key))
  const left = secrets.filter(({ key }) => isOwn(key)).map(({ key }) => key)
  if (left.length > 0)
    log.info(`${name} does not get ${left.join(', ')}, which would change the program itself`)
  return Object.fromEntries(kept.map(({ key, value }) => [key, value]))
}

/** Rejects with `build_failed`, or when aborted once no process of its group is left. */
async function runProgram(
  name: string,
  args: string[],
  values: Record<string, string>,
  job: BuildJob,
): Promise<void> {
  const { signal, log } = job
  await reapProcesses(job.deployId) // of a killed daemon: it would build the same image
  const env = { ...values, ...(await openEnvironment(job)) }
  log.info(`${name} reads the source on the server itself, with the rights of berthd`)
  signal.throwIfAborted()
  const child = spawn(name, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  dropOomProtection(child)
  const kill = () => killGroup(child)
  signal.addEventListener('abort', kill, { once: true })
  const printed = [child.stdout, child.stderr].map(async (stream) => {
    for await (const line of streamLines(stream)) log.build('system', line, null)
  })
  try {
    const [exitCode] = await Promise.all([ended(name, child), ...printed]).catch((error: unknown) => {
      kill()
      throw error
    })
    signal.throwIfAborted()
    if (exitCode !== 0) throw new Failure('build_failed', `${name} exited with code ${exitCode}`)
  } finally {
    signal.removeEventListener('abort', kill)
  }
}

/** Nothing else is inherited. The home, which is also for temporary files, goes with the checkout. */
async function openEnvironment({ deployId, directory, engine }: BuildJob) {
  const home = join(directory, 'home')
  await mkdir(home, { recursive: true, mode: 0o700 })
  const { PATH, BUILDKIT_HOST, PACK_HOME = join(homedir(), '.pack') } = process.env
  const own = {
    HOME: home,
    TMPDIR: home,
    DOCKER_HOST: engine.host,
    NO_COLOR: '1',
    [markerVariable]: deployId,
  }
  return { PATH, BUILDKIT_HOST, PACK_HOME, ...own }
}

function ended(name: string, child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on('close', resolve)
    child.on('error', (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === 'ENOENT'
          ? 'is not on the PATH of berthd: install it there, or choose another --builder'
          : `did not start: ${error.message}`
      reject(new Failure('build_failed', `${name} ${reason}`))
    })
  })
}

async function labelImage(job: BuildJob): Promise<void> {
  const directory = await createGeneratedDirectory(job)
  await writeFile(join(directory, 'Dockerfile'), `FROM ${job.tree.tag}\n`)
  await job.driver.build({
    ...job.image,
    contextDir: directory,
    dockerfile: 'Dockerfile',
    ignore: ['*'],
    noCache: false,
    cacheNamespace: '',
    buildArgs: {},
    secrets: [],
    registries: job.registries,
    onLine: () => {},
    signal: job.signal,
  })
}
