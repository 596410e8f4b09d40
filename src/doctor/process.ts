// The process of the server: who starts it again, whose unit that is, and how many files it may open.
import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

const fewFiles = 8192
const unitFolders = ['/etc/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system']
/** Names of variables whose value is a secret. */
const secretName = /^\s*[A-Z_]*(TOKEN|SECRET|PASSWORD|KEY)[A-Z_]*=./m

export async function checkProcess(
  { pid }: Examined,
  _: AbortSignal,
  folders = unitFolders,
): Promise<Finding[] | string> {
  const unit = await findUnit(folders)
  if (pid === null)
    return [finding('server_stopped', { command: unit ? `systemctl start ${unit.name}` : 'berthd' })]
  const name = await unitOf(pid)
  const found = [
    ...(name === null ? [finding('server_not_supervised', { pid })] : []),
    ...(unit === null ? [] : await faultsOf(unit)),
    ...(await faultsOfFiles(pid)),
  ]
  return found.length > 0 ? found : `process ${pid} of ${name}`
}

/** Null if it cannot be read. */
export async function userOf(pid: number): Promise<number | null> {
  return stat(`/proc/${pid}`).then(
    ({ uid }) => uid,
    () => null,
  )
}

/** The systemd unit that would start the process again; null without one. */
async function unitOf(pid: number): Promise<string | null> {
  const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
  return /\/([^/\n]+\.service)(?:\/|$)/m.exec(groups)?.[1] ?? null
}

interface Unit {
  name: string
  path: string
  text: string
}

/** The one that starts `berthd`. */
async function findUnit(folders: string[]): Promise<Unit | null> {
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => [])
    for (const name of names.filter((name) => /^berth.*\.service$/.test(name))) {
      const path = `${folder}/${name}`
      const text = await readFile(path, 'utf8').catch(() => '')
      if (/^ExecStart=.*(berthd|main\.js)/m.test(text)) return { name, path, text }
    }
  }
  return null
}

/** The variables that the unit gives to `berthd`. */
export async function unitEnvironment(): Promise<Record<string, string>> {
  const text = (await findUnit(unitFolders))?.text ?? ''
  const state = /^StateDirectory=(\S+)/m.exec(text)?.[1]
  const files = [...text.matchAll(/^EnvironmentFile=-?(\S+)/gm)].map(([, file]) => file!)
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')))
  const lines = texts.join('\n').matchAll(/^\s*(BERTH_\w+)=["']?(.*?)["']?\s*$/gm)
  const variables = Object.fromEntries([...lines].map(([, name, value]) => [name!, value!]))
  return state === undefined ? variables : { STATE_DIRECTORY: `/var/lib/${state}`, ...variables }
}

async function faultsOf({ path, text }: Unit): Promise<Finding[]> {
  const files = [...text.matchAll(/^EnvironmentFile=-?(\S+)/gm)].map(([, file]) => file!)
  const [, program] = /^ExecStart=\S*node\S* (\S+)/m.exec(text) ?? []
  const found = await Promise.all([path, ...files].map(writers))
  const exposed = await Promise.all(files.map(readers))
  const isGone = program !== undefined && (await stat(program).catch(() => null)) === null
  return [
    ...found.flat(),
    ...exposed.flat(),
    ...(isGone ? [finding('unit_program_missing', { path, program })] : []),
  ]
}

/** A user who can change the file decides what runs with the rights of the server. */
async function writers(path: string): Promise<Finding[]> {
  const file = await stat(path).catch(() => null)
  if (file === null || (file.uid === 0 && (file.mode & 0o022) === 0)) return []
  return [finding('unit_writable', { path, mode: modeOf(file.mode), uid: file.uid })]
}

async function readers(path: string): Promise<Finding[]> {
  const file = await stat(path).catch(() => null)
  const text = await readFile(path, 'utf8').catch(() => '')
  if (file === null || (file.mode & 0o004) === 0 || !secretName.test(text)) return []
  return [finding('env_file_exposed', { path, mode: modeOf(file.mode) })]
}

/** `0644` */
export function modeOf(mode: number): string {
  return `0${(mode & 0o777).toString(8).padStart(3, '0')}`
}

async function faultsOfFiles(pid: number): Promise<Finding[]> {
  const limits = await readFile(`/proc/${pid}/limits`, 'utf8').catch(() => '')
  const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.NaN)
  const open = await readdir(`/proc/${pid}/fd`).then(
    (files) => files.length,
    () => 0,
  )
  if (open > limit * 0.8) return [finding('files_exhausted', { open, limit })]
  return limit < fewFiles ? [finding('files_few', { limit })] : []
}

/** `nginx (812)`: who has this socket, as far as it can be seen; null otherwise. */
export async function holderOf(inode: string): Promise<string | null> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) {
    for (const file of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${file}`).catch(() => '')
      if (target !== `socket:[${inode}]`) continue
      const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '?')
      return `${name.trim()} (process ${pid})`
    }
  }
  return null
}
