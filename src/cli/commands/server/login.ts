// Logs in to a server and out of it, and shows the server and the account in use.
import { hostname } from 'node:os'
import type { AuthStatus } from '../../../api/access/account.ts'
import type { PolledTerminalLogin, StartedTerminalLogin } from '../../../api/access/terminal-login.ts'
import type { Info } from '../../../api/info.ts'
import { sleep } from '../../../async/sleep.ts'
import { version } from '../../../version.ts'
import { type Client, createClient } from '../../client/client.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import {
  type Config,
  changeConfig,
  defaultUrl,
  findServer,
  isServerUrl,
  type KnownServer,
  knownServer,
  parseServerUrl,
  readConfig,
} from '../../config/config.ts'
import { configuredToken } from '../../config/server-choice.ts'
import { CliFailure, exitCodes, interruption, usageFailure } from '../../failure.ts'
import { printDone, printNext } from '../../follow-up.ts'
import { span } from '../../terminal/ages.ts'
import { openInBrowser } from '../../terminal/browser.ts'
import { plain } from '../../terminal/output.ts'
import { printFacts } from '../../terminal/table.ts'

export function addLoginCommands(program: BerthCommand): void {
  program
    .command('login')
    .argument('[url]', `the server's address (${defaultUrl})`)
    .description('log in to a server; --server sets its local name')
    .option('--no-browser', 'only print the page to open')
    .option('--code <code>', 'the start code of the account page, if the server gets too many logins')
    .examples(
      'berth login',
      'berth login http://127.0.0.1:8080       # another port',
      'berth login berth.example.com --server production',
      'berth login https://berth.example.com --token-file token.txt   # without a browser, for scripts',
    )
    .runs(logIn)
  program
    .command('logout')
    .argument('[server]', 'its name or address')
    .description('delete the token of a server')
    .examples('berth logout', 'berth logout production')
    .runs(logOut)
  program
    .command('whoami')
    .description('show the server and the account in use')
    .examples('berth whoami', 'berth whoami --server production')
    .runs(whoAmI)
}

interface LoginOptions {
  browser: boolean
  code?: string
}

async function logIn(cli: Cli, address: string | undefined, options: LoginOptions): Promise<void> {
  const { env, flags, out } = cli
  const { url } = chooseTarget(cli, readConfig(env), address)
  const enter = async () => {
    const token = configuredToken(flags, cli) ?? (await approvedToken(cli, url, options))
    return { token, info: await verify(cli, url, token) }
  }
  const { token, info } = await enter().catch((error: unknown) => {
    throw isWithoutScheme(address) ? withClearText(error, url) : error
  })
  const { name, isFirst } = storeServer(cli, { url, token })
  if (out.isJson) return out.json({ server: name, url, version: info.version })
  printDone(cli, `logged in to ${url}, saved as ${name}`)
  if (url.startsWith('http:') && !isThisHost(url)) {
    out.say(` ${out.tint('yellow', '!')} without https, anyone on the network in between can read the token`)
  }
  printNext(cli, isFirst ? 'berth up' : `berth servers use ${name}   # else: --server ${name}`)
}

function isWithoutScheme(address: string | undefined): boolean {
  return address !== undefined && !address.includes('://')
}

/** Adds the command for a server without https. The CLI never falls back to clear text by itself. */
function withClearText(error: unknown, url: string): unknown {
  const isLost = error instanceof CliFailure && error.exitCode === exitCodes.unreachable
  if (!isLost || !url.startsWith('https:')) return error
  const { hostname: host, port } = new URL(url)
  const plainUrl = `http://${host}:${port || new URL(defaultUrl).port}`
  const hint = `without a scheme it is https; a server without that, in clear text: berth login ${plainUrl}`
  return new CliFailure(error.message, { ...error, hint })
}

/** Uses the name that is free now: other logins may have stored theirs since it was chosen. */
function storeServer(cli: Cli, server: KnownServer) {
  let name = ''
  const { default: chosen } = changeConfig(cli.env, (config) => {
    name = chooseTarget(cli, config, server.url).name
    return { default: config.default ?? name, servers: { ...config.servers, [name]: server } }
  })
  return { name, isFirst: chosen === name }
}

function chooseTarget({ env, flags }: Cli, config: Config, address: string | undefined) {
  const wanted = flags.server ?? (env.BERTH_SERVER || undefined)
  if (wanted !== undefined && !isServerUrl(wanted)) {
    const server = findServer(config, checkedName(wanted))
    return { name: wanted, url: parseServerUrl(address ?? server?.server.url ?? defaultUrl) }
  }
  const known = address === undefined ? null : findServer(config, address)
  if (known && wanted === undefined) return { name: known.name, url: known.server.url }
  const current = config.default === undefined ? null : findServer(config, config.default)
  const url = parseServerUrl(address ?? wanted ?? current?.server.url ?? defaultUrl)
  return { name: findServer(config, url)?.name ?? nameFor(config, url), url }
}

function checkedName(name: string): string {
  if (/^[a-zA-Z0-9][\w.-]{0,63}$/.test(name)) return name
  throw usageFailure(`'${name}' is not a valid server name`, 'letters, digits, dots and dashes')
}

/** `local`, or the host; with its port if another server has that name. */
function nameFor(config: Config, url: string): string {
  const { hostname: host, port } = new URL(url)
  const name = isThisHost(url) ? 'local' : host
  return findServer(config, name) ? `${name}-${port || 'default'}` : name
}

function isThisHost(url: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
}

async function approvedToken(cli: Cli, url: string, options: LoginOptions): Promise<string> {
  const { out, signal } = cli
  const client = createClient({ url, token: undefined, signal })
  const name = `berth on ${hostname()}`
  const login = await startTerminalLogin(client, { name, startCode: options.code })
  printInstructions(cli, login)
  const isOpen = options.browser && (await openInBrowser(cli, login.page))
  if (isOpen) out.say(`${out.tint('dim', '   Your browser should show it now.')}\n`)
  const endsAt = Date.now() + login.expires_in * 1000
  out.animate((spinner) => {
    const left = out.tint('dim', `${span((endsAt - Date.now()) / 1000)} left`)
    return [` ${out.tint('cyan', spinner)} waiting for the approval   ${left}`]
  })
  try {
    return await awaitApproval(cli, client, login)
  } finally {
    out.rest()
  }
}

function printInstructions({ out }: Cli, { page, code }: StartedLogin): void {
  out.say(' To log in, open this page and approve if it shows the same code:')
  out.say()
  out.say(`   ${out.tint('underline', plain(page))}`)
  out.say()
  out.say(`   ${out.tint('dim', 'code')}   ${out.tint('bold', plain(code))}`)
  out.say()
}

/** Tests the token with a request before it is stored. */
async function verify({ signal }: Cli, url: string, token: string): Promise<Info> {
  const client = createClient({ url, token, signal })
  return client.call<Info>('GET', '/info').catch((error: unknown) => {
    const isRefused = error instanceof CliFailure && error.exitCode === exitCodes.refused
    throw isRefused ? new CliFailure(`${url} rejected this token`, { exitCode: exitCodes.refused }) : error
  })
}

async function logOut(cli: Cli, server: string | undefined): Promise<void> {
  const wanted = server ?? cli.flags.server ?? (cli.env.BERTH_SERVER || readConfig(cli.env).default)
  if (wanted !== undefined) return forgetServer(cli, wanted)
  throw new CliFailure('there is no default server', { hint: 'berth servers lists yours' })
}

/** A token cannot revoke itself: it is only deleted here. */
export async function forgetServer(cli: Cli, wanted: string): Promise<void> {
  const { name, server } = knownServer(readConfig(cli.env), wanted)
  changeConfig(cli.env, (config) => {
    const { [name]: _, ...servers } = config.servers
    return { default: config.default === name ? undefined : config.default, servers }
  })
  if (cli.out.isJson) return cli.out.json({ server: name, url: server.url })
  printDone(cli, `the token of ${name} is deleted from this machine`)
  cli.out.say(`   it is still valid: revoke it at ${server.url}/account`)
}

async function whoAmI({ client, out, server }: Cli): Promise<void> {
  const { token, url, name } = server
  const [status, info] = await Promise.all([
    client.call<AuthStatus>('GET', '/auth/status'),
    client.call<Info>('GET', '/info'),
  ])
  const hint = token?.slice(-4)
  if (out.isJson) return out.json({ server: name, url, ...status, token_hint: hint, version: info.version })
  printFacts(out, [
    ['server', name, 'bold'],
    ['address', name === url ? null : url],
    ['user', status.user?.email],
    ['token', hint && `…${hint}`],
    ['version', info.version],
    ['this berth', info.version === version ? null : version],
  ])
}

// The terminal login: shows a page and a code, then polls until the administrator has approved it.

interface StartedLogin extends StartedTerminalLogin {
  page: string
}

/** Requests a login; `name` becomes the name of the token. Throws if the server has no account yet. */
async function startTerminalLogin(
  client: Client,
  { name, startCode }: { name: string; startCode: string | undefined },
): Promise<StartedLogin> {
  const body = { name, ...(startCode === undefined ? {} : { start_code: startCode }) }
  const started = await client
    .call<StartedTerminalLogin>('POST', '/auth/cli', { body })
    .catch((error: unknown) => {
      throw error instanceof CliFailure ? withNextStep(error, client.url, startCode) : error
    })
  return { ...started, page: `${client.url}/cli-login?id=${encodeURIComponent(started.id)}` }
}

/** Resolves with the token. While the server is unavailable, polling continues until the login expires. */
async function awaitApproval(cli: Cli, client: Client, login: StartedLogin): Promise<string> {
  const deadline = Date.now() + login.expires_in * 1000
  let pauseSeconds = login.interval
  while (Date.now() < deadline) {
    await sleep(Math.min(pauseSeconds * 1000, deadline - Date.now()), cli.signal).catch(() => {
      throw interruption()
    })
    const response = await poll(client, login)
    if (response.kind === 'token') return response.token
    pauseSeconds = response.kind === 'later' ? response.seconds : login.interval
  }
  throw expired(client.url)
}

type Polled = { kind: 'pending' } | { kind: 'later'; seconds: number } | { kind: 'token'; token: string }

async function poll(client: Client, { id, secret }: StartedLogin): Promise<Polled> {
  const path = `/auth/cli/${encodeURIComponent(id)}/token`
  try {
    const { status, token } = await client.call<PolledTerminalLogin>('POST', path, { body: { secret } })
    if (status === 'denied') throw denied(client.url)
    return status === 'approved' && token ? { kind: 'token', token } : { kind: 'pending' }
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error
    if (error.exitCode === exitCodes.unreachable || error.code === 'unavailable') return { kind: 'pending' }
    if (error.code === 'slow_down') return { kind: 'later', seconds: error.retryAfterSeconds ?? 2 }
    throw error.exitCode === exitCodes.notFound ? expired(client.url) : error
  }
}

function withNextStep(failure: CliFailure, url: string, startCode: string | undefined): CliFailure {
  if (failure.code === 'conflict') {
    const hint = 'first open the setup link that the server printed when it started, then try again'
    return new CliFailure(failure.message, { ...failure, hint })
  }
  if (failure.code !== 'too_many_attempts' || startCode !== undefined) return failure
  const hint = `berth login ${url} --code CODE   # the start code that ${url}/account shows`
  return new CliFailure(failure.message, { ...failure, hint })
}

function denied(url: string): CliFailure {
  const hint = `berth login ${url} starts over`
  return new CliFailure('the login was denied', { exitCode: exitCodes.refused, hint })
}

function expired(url: string): CliFailure {
  const message = 'the login has expired: it was not approved in time, or the server was restarted'
  return new CliFailure(message, { hint: `berth login ${url} starts over` })
}
