// What to do about a deploy that did not go live: the next command, by its error code, else its message.
// Mind: the error is for people and says why already; a hint only says what can be done from here.
import type { Deploy } from '../../http/schemas/deploy.ts'
import type { Service } from '../../http/schemas/service.ts'

interface Case {
  words: RegExp
  hint(name: string, deploy: Deploy): string
}

// The first that fits counts.
const cases: Case[] = [
  { words: /^superseded by (dep-\w+)/, hint: (_, { error }) => followNewer(error ?? '') },
  { words: /^canceled by/, hint: (name) => `berth deploy ${name} begins anew` },
  { words: /there is no .*Dockerfile.* in the source/, hint: () => 'its log has a Dockerfile to start from' },
  {
    words: /its default branch is '([^']+)'/,
    hint: (name, { error }) =>
      `berth update ${name} --branch ${defaultBranchIn(error)}, then: berth deploy ${name}`,
  },
  { words: /set publish_dir to (\S+)/, hint: (name) => `berth update ${name} --publish-dir FOLDER` },
  {
    words: /BuildKit hangs/,
    hint: () => 'a restart of the Docker engine ends this, and interrupts every service',
  },
  { words: /memory limit/, hint: (name) => `give it more: berth update ${name} --memory 1024` },
  {
    words: /listens on [\d, ]+ at 127\.0\.0\.1 only/,
    hint: () => 'listen at 0.0.0.0 instead of 127.0.0.1: many programs take --host 0.0.0.0',
  },
  {
    words: /berth update \S+ --port \d+/,
    hint: (name, deploy) => `${portCommand(deploy)}, then: berth ${again(deploy)} ${name}`,
  },
  {
    words: /listen on \d+ at 0\.0\.0\.0/,
    hint: (name) => `listen on $PORT at 0.0.0.0, or: berth update ${name} --port N`,
  },
  {
    words: /the HEALTHCHECK of the image/,
    hint: () => 'its command in the Dockerfile has to exit with 0 in the running container',
  },
  {
    words: /health check did not pass/,
    hint: (name) => `it must answer 2xx or 3xx: berth update ${name} --health-path PATH`,
  },
  { words: /the variable \S+/, hint: (name) => `berth env ${name} shows its variables` },
  { words: /berth registries add/, hint: () => 'berth registries keeps credentials' },
  { words: /image .*(gone|was removed)/, hint: (name) => `berth deploy ${name} builds it anew` },
  {
    words: /disk is full|MiB free|not enough room/,
    hint: () => 'make room on the server, then deploy again',
  },
  { words: /cannot read \S+:\/\//, hint: (name) => `berth show ${name} says where the source is` },
]

export function hintFor(deploy: Deploy, service: Pick<Service, 'name' | 'type'>): string {
  const { name } = service
  if (deploy.error_code === 'exited_early' && service.type === 'web_service') {
    const way = siteCommand(deploy, name)
    if (way) return `if its Dockerfile only builds pages, have FOLDER of its last stage served: ${way}`
  }
  const found = cases.find(({ words }) => words.test(deploy.error ?? ''))
  return found?.hint(name, deploy) ?? `mend it, then: berth ${again(deploy)} ${name}`
}

/** Null for a source without a Dockerfile. The type of a service is fixed, so this creates a new service. */
function siteCommand({ source }: Deploy, name: string): string | null {
  const site = `${name}-site`
  const create = `berth create ${site} --type static_site --publish-dir FOLDER`
  if (source.kind === 'archive') return `${create}, then: berth up ${site}`
  return source.kind === 'git' ? `${create} --repo URL` : null
}

function defaultBranchIn(error: string | null): string {
  return /its default branch is '([^']+)'/.exec(error ?? '')?.[1] ?? 'BRANCH'
}

function again({ source }: Deploy): string {
  return source.kind === 'archive' ? 'up' : 'deploy'
}

function portCommand({ error }: Deploy): string {
  return /berth update \S+ --port \d+/.exec(error ?? '')?.[0] ?? ''
}

function followNewer(error: string): string {
  const [newer = ''] = /dep-\w+/.exec(error) ?? []
  return `the newer one goes on: berth logs --deploy ${newer} -f`
}
