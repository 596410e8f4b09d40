// What a test does with a host that has the package of Berth: a service, its visitors, and `berth`.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { buildPackage } from '../../package/build.ts'
import { copyRepository } from '../../package/repository.ts'
import { compiledVariable } from '../daemon/program.ts'
import { busyboxImage } from '../docker/images.ts'
import { haproxyImage } from '../docker/server-images.ts'
import { run } from '../system/command.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { withFileLock } from '../system/file-lock.ts'
import type { Host } from './host.ts'
import type { Release } from './root.ts'

const home = fileURLToPath(new URL('../../..', import.meta.url))
/** BERTH_PACKAGE tries a package that is built already. */
export const givenPackage = process.env.BERTH_PACKAGE

type Packages = Record<Release | 'arm64', string>

/** The paths of packages of the version 1.0.0. Test files of one run build them once. */
export async function packagesOfTests(t: Scope): Promise<Packages> {
  const given = givenPackage
  if (given) return { bookworm: given, trixie: given, noble: given, arm64: given }
  const compiled = process.env[compiledVariable]
  const folder = compiled ? dirname(compiled) : temporaryDirectory(t)
  const list = join(folder, 'packages.json')
  return withFileLock(join(folder, 'packages.lock'), async () => {
    if (!existsSync(list)) await writeFile(list, JSON.stringify(await buildPackages(folder)))
    return JSON.parse(await readFile(list, 'utf8'))
  })
}

async function buildPackages(folder: string): Promise<Packages> {
  const into = await mkdtemp(join(folder, 'packages-'))
  const tree = join(into, 'repository')
  await copyRepository(tree)
  const options = { home: tree, version: '1.0.0', into, compression: '-z1' }
  const current = await buildPackage(options)
  const bookworm = await buildPackage({ ...options, node: '20' })
  const arm64 = await buildPackage({ ...options, arch: 'arm64', compression: '-z0' })
  return { bookworm, trixie: current, noble: current, arm64 }
}

/** Gives it the images that the edge and the apps of a test need, and returns that of the apps. */
export async function useTestImages(host: Host): Promise<string> {
  const [app, edge] = [await busyboxImage(), await haproxyImage()]
  await run('docker', ['save', '--output', join(host.root, 'images.tar'), app, edge])
  await host.script(`
    docker load --quiet --input /images.tar
    echo 'BERTH_EDGE_IMAGE=${edge}' >> /etc/berth/berth.env
    systemctl restart berth`)
  return app
}

/** A command line of `berth` for a shell in the host. */
export function asAdmin(command: string): string {
  return `env BERTH_SERVER=http://127.0.0.1:7878 BERTH_TOKEN=$(cat /var/lib/berth/api_token) ${command}`
}

interface App {
  image: string
  /** What each request gets. */
  answer: string
  /** Lines of its Dockerfile. */
  steps?: string[]
}

/** An app that answers also requests with a body. */
export async function writeApp(folder: string, { image, answer, steps = [] }: App): Promise<void> {
  const page = join(folder, 'www/cgi-bin/index.cgi')
  await mkdir(dirname(page), { recursive: true })
  const say = `printf 'Status: 200\\n\\n${answer}\\n'`
  await writeFile(page, `#!/bin/sh\nhead -c "\${CONTENT_LENGTH:-0}" >/dev/null\n${say}\n`, { mode: 0o755 })
  const command = 'CMD ["httpd", "-f", "-p", "3000", "-h", "/www"]'
  const lines = [`FROM ${image}`, 'COPY www /www', ...steps, command, '']
  await writeFile(join(folder, 'Dockerfile'), lines.join('\n'))
}

/** The page of the service `web`. */
export function fetchPage(host: Host): Promise<string> {
  return host.run('/usr/lib/berth/bin/node', '-e', pageProgram)
}

const pageProgram = `require('http')
  .get({ host: '127.0.0.1', headers: { host: 'web.localhost' } }, (answer) => answer.pipe(process.stdout))`

/** Visitors of the service `web`, from now to the end. */
export async function startVisits({ pid }: Host) {
  const program = join(home, 'test/package/edge-load.ts')
  const node = [process.execPath, '--conditions=development', '--import', 'tsx', program, 'web.localhost']
  const child = spawn('nsenter', ['--target', String(pid), '--net', '--', ...node], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  assert.equal((await lines.next()).value, 'started')
  return {
    async end(): Promise<{ answered: number; failures: string[] }> {
      child.stdin.end()
      return JSON.parse((await lines.next()).value)
    },
  }
}
