// Whether this Node and this host can run Berth. Checked before anything else is loaded, and reported in
// one line. This file and both main.ts must run on Node 14, and must not import anything newer.

interface Program {
  name: string
  /** Required packages with native code. */
  natives: string[]
  /** Whether it runs on newer Node versions that it was not tested with. */
  supportsNewer: boolean
  /** The exit code on an unsupported platform. The systemd unit does not restart the daemon after 2. */
  exitCode: number
}

export interface Platform {
  /** `22.12.0` */
  node: string
  /** `linux x64` */
  system: string
  load(name: string): Promise<unknown>
}

export const berth: Program = { name: 'berth', natives: [], supportsNewer: true, exitCode: 1 }
export const berthd: Program = {
  name: 'berthd',
  natives: ['uWebSockets.js', 'lmdb', 'argon2'],
  supportsNewer: false,
  exitCode: 2,
}

/** The oldest supported release of each major version; `engines` in package.json has the same list. */
const minimumVersions = ['20.19', '22.12', '24.0']
const supportedVersions = 'Node 20 (20.19 or newer), 22 (22.12 or newer) or 24'
/** What the binaries of the native packages are built against. */
const neededGlibc =
  'it needs glibc: 2.34 (Debian 12, Ubuntu 22.04) with Node 20, ' +
  '2.38 (Debian 13, Ubuntu 24.04) with Node 22 and 24'

/** Loads the program on a supported platform. Otherwise prints one line with the version to install. */
export function start(program: Program, load: () => Promise<unknown>): void {
  platformProblem(program, thisPlatform)
    .then((problem) => {
      if (problem === null) return load()
      process.stderr.write(`${program.name}: ${problem}\n`)
      process.exit(program.exitCode)
    })
    .catch((error: unknown) => {
      process.stderr.write(`${program.name}: ${error instanceof Error ? error.stack : String(error)}\n`)
      process.exit(1)
    })
}

/** The reason why the program cannot run here, with the remedy; null if it can. */
export async function platformProblem(program: Program, platform: Platform): Promise<string | null> {
  if (!runsOn(program, platform.node)) {
    return `Node ${platform.node} is not supported: install ${supportedVersions}`
  }
  for (const name of program.natives) {
    try {
      await platform.load(name)
    } catch (error) {
      return nativeModuleProblem(name, error, platform)
    }
  }
  return null
}

function runsOn({ supportsNewer }: Program, node: string): boolean {
  const line = minimumVersions.find((version) => major(version) === major(node))
  return line
    ? minor(node) >= minor(line)
    : supportsNewer && major(node) > major(minimumVersions[0] as string)
}

/** The reason is the last line: a wrapper puts its own message before it. */
function nativeModuleProblem(name: string, error: unknown, { node, system }: Platform): string {
  const message = error instanceof Error ? error.message : String(error)
  if (message.includes(`Cannot find package '${name}'`)) return `the package ${name} is missing: run npm ci`
  const lines = message.split('\n').filter((line) => line.trim() !== '')
  const reason = (lines[lines.length - 1] || '').trim()
  return `${name} does not load with Node ${node} on ${system}: ${reason}; ${neededGlibc}`
}

function major(version: string): number {
  return Number(version.split('.')[0])
}

function minor(version: string): number {
  return Number(version.split('.')[1])
}

const thisPlatform: Platform = {
  node: process.versions.node,
  system: `${process.platform} ${process.arch}`,
  load: (name) => import(name),
}
