// Every `berth` command in the code blocks of the manual, typed at a terminal, in the order of the page.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeTree } from '../support/archive/write-tree.ts'
import { keys, openShell, quote, type Terminal } from '../support/cli/pty.ts'
import { berthCommand } from '../support/cli/spawned.ts'
import type { TestDaemon } from '../support/daemon/daemon.ts'
import { versions } from '../support/daemon/datastores.ts'
import { dockerfile } from '../support/daemon/service.ts'
import { datastoreImages } from '../support/docker/datastore-images.ts'
import { account, startRegistry } from '../support/docker/registry.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'
import { createGitProvider } from '../support/git/git-provider.ts'
import { createRepository } from '../support/git/repository.ts'
import { berthLinesIn, linesIn, manualPages } from '../support/http/manual.ts'
import { type SessionHeaders, signUp } from '../support/http/session.ts'
import { type Scope, temporaryDirectory } from '../support/system/directory.ts'
import { long } from '../support/system/drill-size.ts'

interface User {
  daemon: TestDaemon
  session: SessionHeaders
  folder: string
  env: Record<string, string>
  /** What the examples of the manual stand for on this machine. */
  replacements: [string, string][]
}

/** What the user types while the command runs; `interrupted` after a Ctrl-C. */
type Replies = (terminal: Terminal, user: User) => Promise<unknown>

const interrupt =
  (label: string | RegExp): Replies =>
  async (terminal) => {
    await terminal.shows(label)
    terminal.type(keys.interrupt)
    return 'interrupted'
  }

const reply =
  (prompt: string | RegExp, text: string): Replies =>
  async (terminal) => {
    await terminal.shows(prompt)
    terminal.type(`${text}${keys.enter}`)
  }

async function approveLogin(terminal: Terminal, { daemon, session }: User): Promise<void> {
  await terminal.shows('waiting for the approval')
  const [, id] = /cli-login\?id=(\S+)/.exec(terminal.screen().join('\n')) ?? []
  const approval = `${daemon.api.url}/api/v1/auth/cli/${id}/approve`
  assert.equal((await fetch(approval, { method: 'POST', headers: session })).status, 200)
}

const conversations: [RegExp, Replies][] = [
  [/^berth login/, approveLogin],
  [/^berth git connect github$/, interrupt('waiting for the authorization')],
  [/^berth up$/, reply('Create shop', 'y')],
  [/^berth logs \S+ -f/, interrupt('started')],
  [/^berth status \S+ --watch/, interrupt('live')],
  [/^berth db psql \S+$/, reply('=#', '\\q')],
  [/^berth db redis-cli/, reply('6379>', 'quit')],
  [/^berth create prometheus/, reply('Where does', '')],
  [/^berth rollback/, reply('Which deploy', '')],
  [/^berth db upgrade/, reply('Go on?', 'y')],
  [/^berth db rm/, reply('Type its name', 'shop-cache')],
  [/^berth registries add/, reply(/password/i, account.password)],
]

/** An application with a log, whose image has the programs that the manual runs in it. */
async function application(programs: Record<string, string>): Promise<Record<string, string>> {
  const start = 'echo started; trap "exit 0" TERM; httpd -f -p $PORT -h /www & wait'
  return {
    Dockerfile: await dockerfile(
      'COPY www /www',
      'COPY --chmod=755 bin /bin',
      `CMD ${JSON.stringify(['sh', '-c', start])}`,
    ),
    '.env': 'SECRET=one\n',
    'www/-/ready': 'ok',
    ...Object.fromEntries(
      Object.entries(programs).map(([name, text]) => [`bin/${name}`, `#!/bin/sh\n${text}\n`]),
    ),
  }
}

const rails = { rails: 'echo "$@"' }
const prometheus = { prometheus: 'exec httpd -f -p 9090 -h /www' }

/** A new server with the user's folders and programs; the manual's pages start with it. */
async function newUser(t: Scope): Promise<User> {
  const images = await datastoreImages()
  const { daemon } = await openEdgeSite(t, 'container', [
    `--postgres-image=${images.postgres}`,
    `--redis-image=${images.redis.replace('{version}', versions.redis)}`,
  ])
  const registry = await startRegistry(t)
  const privateRegistry = await startRegistry(t, { isPrivate: true })
  await registry.push('app:v1', 'an image')
  const web = createRepository(t)
  const commit = web.commit('First', await application(rails))
  const provider = await accountsOf(t)
  const blog = createRepository(t)
  blog.commit('First', { 'public/index.html': 'a page' })
  return {
    daemon,
    session: await signUp(daemon.api.url, daemon.dataDir),
    folder: await homeFolder(t),
    env: { PATH: `${programs(t)}${delimiter}${process.env.PATH}`, XDG_CONFIG_HOME: temporaryDirectory(t) },
    replacements: [
      ['berth login', `berth login ${daemon.api.url}`],
      ['https://git.example.com', provider.url],
      ['https://example.com/web.git', web.directory],
      ['https://example.com/blog.git', blog.directory],
      ['1f2e3d4', commit.slice(0, 7)],
      ['alpine:3', `${registry.host}/app:v1`],
      ['redis:8-alpine', `${registry.host}/app:v1`],
      ['ghcr.io', privateRegistry.host],
      // The versions that Debian has.
      ['berth db create shop-db', `berth db create shop-db --version ${versions.postgres}`],
      ['--to 18', '--to 17'],
    ],
  }
}

/** A provider that accepts the token of the password manager, and has the repository ada/shop. */
async function accountsOf(t: Scope) {
  const root = temporaryDirectory(t)
  mkdirSync(join(root, 'ada'))
  createRepository(t, { root: join(root, 'ada'), name: 'shop.git' }).commit('First', { file: 'one' })
  const provider = await createGitProvider(t, { root })
  provider.createToken('ada', { secret: 'a-token' })
  return provider
}

async function homeFolder(t: Scope): Promise<string> {
  const folder = temporaryDirectory(t)
  writeTree(join(folder, 'shop'), await application(rails))
  writeTree(join(folder, 'site'), { 'index.html': 'a page' })
  writeTree(join(folder, 'prometheus'), await application(prometheus))
  return folder
}

/** A folder with `berth`, and a password manager that the manual mentions. */
function programs(t: Scope): string {
  const folder = temporaryDirectory(t)
  const berth = [process.execPath, ...berthCommand].map(quote).join(' ')
  for (const [name, command] of [
    ['berth', `exec ${berth} "$@"`],
    ['pass', 'echo a-token'],
  ]) {
    writeFileSync(join(folder, name!), `#!/bin/sh\n${command}\n`, { mode: 0o755 })
  }
  return folder
}

const login = 'berth login'
const web = ['berth create web --repo https://example.com/web.git', 'berth deploy web']

/** The commands of earlier pages that a page depends on. */
const earlier: Record<string, string[]> = {
  'docs/databases.md': [login, ...web],
  'docs/domains-and-https.md': [login, ...web],
  'docs/git-accounts.md': [login],
  'docs/jobs.md': [login, ...web],
  'docs/metrics.md': [login, 'cd prometheus'],
  'docs/sources-and-builds.md': [login],
  'docs/static-sites.md': [login],
}

/** Runs the line as a user would, again if the server asks for it, and expects it to succeed. */
async function type(t: Scope, user: User, line: string): Promise<void> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const { code, screen, isInterrupted } = await typeOnce(t, user, line)
    if (code === 0 || (code === 130 && isInterrupted)) return
    const mayRetry = screen.includes('try again in a moment') && Date.now() < deadline
    assert.ok(mayRetry, `${line}: exit code ${code}\n${screen}`)
    await sleep(500)
  }
}

async function typeOnce(t: Scope, user: User, line: string) {
  const command = user.replacements.reduce((text, [example, real]) => text.replaceAll(example, real), line)
  const terminal = openShell(t, command, { cwd: user.folder, env: user.env, columns: 120 })
  const replies = conversations.find(([pattern]) => pattern.test(line))?.[1]
  const outcome = await replies?.(terminal, user)
  const code = await terminal.ended()
  return { code, screen: terminal.screen().join('\n'), isInterrupted: outcome === 'interrupted' }
}

const pages = manualPages.filter((page) => berthLinesIn(page).length > 0)

for (const page of pages) {
  const testPage = page === 'docs/getting-started.md' ? test : long
  testPage(`the commands of ${page} work in the order of the page`, async (t: TestContext) => {
    const user = await newUser(t)
    const lines = linesIn(page).filter((line) => line.startsWith('cd ') || berthLinesIn(page).includes(line))
    for (const line of [...(earlier[page] ?? []), ...lines]) {
      if (line.startsWith('cd ')) user.folder = join(user.folder, line.slice('cd '.length))
      else await type(t, user, line)
    }
  })
}
