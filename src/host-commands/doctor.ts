// `berthd doctor`: looks for what keeps this server from working, also while the daemon is stopped. It uses
// the options of the running daemon, or else those of its systemd unit.
import { readFile } from 'node:fs/promises'
import { styleText } from 'node:util'
import { openReadAccess } from '../../storage/read-access.ts'
import { lockHolder } from '../../storage/store/lock.ts'
import { type Config, readConfig } from '../config/config.ts'
import { openEngine } from '../docker/engine/client.ts'
import type { Examined } from '../doctor/examined.ts'
import { examine } from '../doctor/index.ts'
import { unitEnvironment } from '../doctor/process.ts'
import { type Paint, reportLines } from '../doctor/report.ts'
import { codeOf, messageOf } from '../errors.ts'

export const doctorHelp = `usage: berthd doctor [options] [--all] [--json]

Looks for what keeps this server from working: Docker, disks, files, ports, DNS,
backups and others. Each problem has the command that fixes it. It changes
nothing, and works while berthd runs and while it is stopped. As root it sees
most. The options are those of the running berthd, or of its systemd unit;
others can be given as for berthd:

  berthd doctor
  berthd doctor --data-dir /var/lib/berth --all

  --all    also what is good, one by one
  --json   one object with findings: code, severity, found, why, fix

Exit code: 0 if all is good or there are only warnings, 1 with problems.
`

const ownFlags = ['--json', '--all']

interface Terminal {
  columns?: number
  paint: Paint
}

/** Resolves with the report. Sets the exit code, and throws `invalid_option`. */
export async function doctorCommand(args: string[]): Promise<string> {
  const { isTTY, columns } = process.stdout
  const isColored = isTTY === true && !process.env.NO_COLOR
  const paint: Paint = (style, text) => (isColored ? styleText(style, text) : text)
  const { text, isGood } = await hostDoctor(args, { columns, paint })
  process.exitCode = isGood ? 0 : 1
  // A check that hangs must not keep the process.
  setTimeout(() => process.exit(), 1000).unref()
  return text
}

/** Resolves with the report, and whether there is no problem. Throws `invalid_option`. */
export async function hostDoctor(args: string[], { columns = 80, paint }: Terminal) {
  const given = args.filter((arg) => !ownFlags.includes(arg))
  const config = await effectiveConfig(given)
  const findings = await withExamined(config, examine)
  const isGood = findings.every(({ severity }) => severity !== 'problem')
  const look = { paint, columns, isWhole: args.includes('--all') }
  const text = args.includes('--json')
    ? JSON.stringify({ findings })
    : ['', ...reportLines(findings, look)].join('\n')
  return { text, isGood }
}

/** Flags of this command win. */
async function effectiveConfig(args: string[]): Promise<Config> {
  const config = readConfig(args, { ...(await unitEnvironment()), ...process.env })
  const pid = lockHolder(config['data-dir'])
  if (pid === null) return config
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
  const words = (await read('cmdline')).split('\0').slice(0, -1)
  const variables = (await read('environ'))
    .split('\0')
    .map((line) => line.split(/=(.*)/s, 2) as [string, string])
  const program = words.findIndex((word) => /(^|\/)(berthd|main\.[jt]s)$/.test(word))
  return readConfig([...words.slice(program + 1), ...args], Object.fromEntries(variables))
}

async function withExamined<T>(config: Config, work: (examined: Examined) => Promise<T>): Promise<T> {
  const engine = openEngine(config.docker)
  const { stored, storeError } = openStored(config['data-dir'])
  try {
    return await work({ config, engine, stored, storeError, pid: lockHolder(config['data-dir']), live: null })
  } finally {
    engine.close()
    await stored?.close()
  }
}

function openStored(directory: string) {
  try {
    return { stored: openReadAccess(directory), storeError: null }
  } catch (error) {
    const isMissing = codeOf(error) === 'not_found'
    return { stored: null, storeError: isMissing ? null : { code: codeOf(error), message: messageOf(error) } }
  }
}
