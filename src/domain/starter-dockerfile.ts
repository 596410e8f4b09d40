// Suggests a Dockerfile. The files are untrusted: links are not followed, and reads are bounded.
import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

interface Suggestion {
  /** The kind in "this looks like a Node.js project". */
  kind: string
  /** Empty for a project of an unknown kind. */
  dockerfile: string[]
  notes: string[]
}

interface Project {
  files: ReadonlySet<string>
  /** Empty for a missing or unreadable file. */
  read(name: string): Promise<string>
  /** The `web` command of the Procfile. */
  web: string | null
}

interface Kind {
  kind: string
  /** This file identifies the kind. */
  evidence: string
  /** The Dockerfile without its CMD line. */
  lines(project: Project): string[] | Promise<string[]>
  command(project: Project): string | Promise<string>
}

const maxBytes = 256 * 1024
const maxCommand = 500

const kinds: Kind[] = [
  { kind: 'a Node.js project', evidence: 'package.json', lines: nodeLines, command: nodeCommand },
  {
    kind: 'a Python project',
    evidence: 'requirements.txt',
    lines: () => [
      'FROM python:3.13-slim',
      'WORKDIR /app',
      'COPY requirements.txt ./',
      'RUN pip install --no-cache-dir -r requirements.txt',
      'COPY . .',
    ],
    command: pythonCommand,
  },
  {
    kind: 'a Python project',
    evidence: 'pyproject.toml',
    lines: () => ['FROM python:3.13-slim', 'WORKDIR /app', 'COPY . .', 'RUN pip install --no-cache-dir .'],
    command: pythonCommand,
  },
  {
    kind: 'a Go project',
    evidence: 'go.mod',
    lines: () => [
      'FROM golang:1.24 AS build',
      'WORKDIR /src',
      'COPY . .',
      'RUN go build -o /app .',
      'FROM debian:stable-slim',
      'COPY --from=build /app /app',
    ],
    command: () => '["/app"]',
  },
  {
    kind: 'a Rust project',
    evidence: 'Cargo.toml',
    lines: () => [
      'FROM rust:1 AS build',
      'WORKDIR /src',
      'COPY . .',
      'RUN cargo install --path . --root /out',
      'FROM debian:stable-slim',
      'COPY --from=build /out/bin/ /usr/local/bin/',
    ],
    command: () => '["your-program"]',
  },
  {
    kind: 'a Ruby project',
    evidence: 'Gemfile',
    lines: () => ['FROM ruby:3.4-slim', 'WORKDIR /app', 'COPY Gemfile* ./', 'RUN bundle install', 'COPY . .'],
    command: () => '["bundle", "exec", "puma", "-p", "3000"]',
  },
  {
    kind: 'a folder of web pages',
    evidence: 'index.html',
    lines: () => ['FROM nginx:alpine', 'COPY . /usr/share/nginx/html', 'EXPOSE 80'],
    command: () => '["nginx", "-g", "daemon off;"]',
  },
]

const composeFiles = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml']

export async function suggestDockerfile(directory: string): Promise<Suggestion> {
  const files = new Set(await readdir(directory))
  const read = (name: string) => (files.has(name) ? readSmall(join(directory, name)) : Promise.resolve(''))
  const procfile = await read('Procfile')
  const project = { files, read, web: lineOf(procfile, 'web') }
  const detected = kinds.find(({ evidence }) => files.has(evidence)) ?? null
  const compose = composeFiles.find((name) => files.has(name))
  const release = lineOf(procfile, 'release')
  return {
    kind: detected?.kind ?? 'a project of an unknown kind',
    dockerfile: detected ? await toDockerfile(detected, project) : [],
    notes: [
      ...(release ? [`the release line of the Procfile is a pre-deploy command: ${release}`] : []),
      ...(compose
        ? [`${compose} is not read: each of its services becomes a service, target is --build-target`]
        : []),
    ],
  }
}

async function toDockerfile({ lines, command }: Kind, project: Project): Promise<string[]> {
  // The shell form, as in a Procfile: $PORT is expanded.
  return [...(await lines(project)), `CMD ${project.web ?? (await command(project))}`]
}

async function nodeLines(project: Project): Promise<string[]> {
  const { files } = project
  const builds = typeof (await readScripts(project)).build === 'string'
  const install = installOf(files, builds)
  const runner = files.has('pnpm-lock.yaml') ? 'pnpm' : files.has('yarn.lock') ? 'yarn' : 'npm'
  return [
    'FROM node:22-slim',
    'WORKDIR /app',
    `COPY ${install.files} ./`,
    `RUN ${install.command}`,
    'COPY . .',
    ...(builds ? [`RUN ${runner} run build`] : []),
  ]
}

/** Development packages are needed for a build step. */
function installOf(files: ReadonlySet<string>, builds: boolean): { files: string; command: string } {
  if (files.has('pnpm-lock.yaml')) {
    const command = `corepack enable && pnpm install --frozen-lockfile${builds ? '' : ' --prod'}`
    return { files: 'package.json pnpm-lock.yaml', command }
  }
  if (files.has('yarn.lock') && files.has('.yarnrc.yml')) {
    const command = 'corepack enable && yarn install --immutable'
    return { files: 'package.json yarn.lock .yarnrc.yml', command }
  }
  if (files.has('yarn.lock')) {
    const command = `yarn install --frozen-lockfile${builds ? '' : ' --production'}`
    return { files: 'package.json yarn.lock', command }
  }
  const isLocked = files.has('package-lock.json') || files.has('npm-shrinkwrap.json')
  const command = `npm ${isLocked ? 'ci' : 'install'}${builds ? '' : ' --omit=dev'}`
  return { files: isLocked ? 'package*.json' : 'package.json', command }
}

async function nodeCommand(project: Project): Promise<string> {
  const { files } = project
  const main = ['server.js', 'app.js', 'index.js'].find((name) => files.has(name))
  const starts = typeof (await readScripts(project)).start === 'string'
  return starts || main === undefined ? '["npm", "start"]' : `["node", "${main}"]`
}

async function readScripts({ read }: Project): Promise<Record<string, unknown>> {
  try {
    const { scripts } = JSON.parse(await read('package.json')) as { scripts?: Record<string, unknown> }
    return scripts ?? {}
  } catch {
    return {}
  }
}

function pythonCommand({ files }: Project): string {
  if (files.has('manage.py')) return 'python manage.py runserver 0.0.0.0:$PORT'
  const main = ['main.py', 'app.py', 'server.py'].find((name) => files.has(name)) ?? 'main.py'
  return `["python", "${main}"]`
}

/** `web: gunicorn app:app` */
function lineOf(procfile: string, kind: string): string | null {
  const line = procfile.split('\n').find((one) => one.startsWith(`${kind}:`))
  const command =
    line
      ?.slice(kind.length + 1)
      .replace(/\p{Cc}/gu, ' ')
      .trim() ?? ''
  return command === '' || command.length > maxCommand ? null : command
}

async function readSmall(path: string): Promise<string> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch(() => null)
  if (file === null) return ''
  try {
    const stats = await file.stat()
    if (!stats.isFile() || stats.size > maxBytes) return ''
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
