// The mounts of a Compose service: one becomes its disk, and each has a line that says what of it stays.
import { posix } from 'node:path'
import { quote } from '../../domain/shell-word.ts'
import { dataPathOf } from '../../domain/stateful-images.ts'
import { isRecord } from '../yaml.ts'
import type { Surroundings } from './compose-text.ts'
import { type Draft, listOf } from './draft.ts'

export interface Mounting {
  service: Record<string, unknown>
  root: Record<string, unknown>
  files: Surroundings
  /** The service that each volume or folder became the disk of. */
  owners: Map<string, string>
}

interface Mount {
  index: number
  type: string
  /** The folder, or the name of the volume in Docker. */
  source: string
  target: string
  isReadOnly: boolean
}

type Lines = [reason: string, index: number][]

export function carryMounts(draft: Draft, value: unknown, mounting: Mounting): Lines {
  const mounts = listOf(value).map((entry, index) => toMount(entry, index, mounting))
  const lines: Lines = []
  const wanted = mounts.filter((mount) => {
    const reason = whyNot(mount, draft.name, mounting)
    if (reason !== null) lines.push([reason, mount.index])
    return reason === null
  })
  const disk = wanted.length === 0 ? null : chooseDisk(wanted, String(mounting.service.image ?? ''))
  if (disk !== null) draft.fields.disk_mount_path = disk
  for (const mount of wanted) lines.push([lineFor(mount, disk!, draft, mounting), mount.index])
  return lines
}

function toMount(entry: unknown, index: number, { root, files }: Mounting): Mount {
  const [, windows = '', text = ''] = /^([a-z]:[\\/](?=.*:))?(.*)$/is.exec(String(entry)) ?? []
  const [first = '', second, mode = ''] = text.split(':')
  // A variable that nothing sets is still there as `${NAME}`.
  const isPath = windows !== '' || /^[./~$]/.test(first)
  const short = second
    ? { type: isPath ? 'bind' : 'volume', source: `${windows}${first}`, target: second, read_only: '' }
    : { type: 'volume', source: '', target: first, read_only: '' }
  const given = isRecord(entry) ? entry : short
  const isReadOnly = `${given.read_only}` === 'true' || mode.split(',').includes('ro')
  const target = normalPath(String(given.target ?? ''))
  const mount = { index, type: String(given.type), source: String(given.source ?? ''), target, isReadOnly }
  if (mount.type !== 'volume' || mount.source === '') return mount
  const volume = isRecord(root.volumes) ? root.volumes[mount.source] : undefined
  const options = isRecord(volume) && isRecord(volume.driver_opts) ? volume.driver_opts : {}
  if (/\bbind\b/.test(String(options.o))) return { ...mount, type: 'bind', source: String(options.device) }
  const project = String(root.name ?? files.folderName ?? '').toLowerCase()
  const isOutside = isRecord(volume) && volume.external === 'true'
  const named = isRecord(volume) && typeof volume.name === 'string' ? volume.name : null
  const prefix = isOutside || project === '' ? '' : `${project.replace(/[^a-z0-9_-]/g, '')}_`
  return { ...mount, source: named ?? `${prefix}${mount.source}` }
}

const hostPaths =
  /^\/(proc|sys|dev|run|boot|lib|lib64|usr|bin|sbin|etc|var\/(run|log|cache|lib\/docker))(\/|$)|^\/$/
const fileName = /\.(?!d$)[a-z][a-z0-9]{0,9}$/i
const codeFolders = new RegExp(
  '^(src|app|lib|public|static|templates?|views|components|pages|styles|assets|tests?|spec|scripts|' +
    'packages|server|client|frontend|backend|web|api|cmd|internal|pkg|config|migrations|routes|locales|' +
    'node_modules)$',
)

const initFolder = /^\/docker-entrypoint-initdb\.d(\/|$)/

/** The program of a database that takes SQL, with the variables that its container has. */
function clientOf(image: string): string | null {
  const [kind] = /mysql|mariadb|postg/.exec(image) ?? []
  if (kind === undefined) return null
  if (kind === 'postg') return 'psql -U "$POSTGRES_USER" $POSTGRES_DB'
  if (kind === 'mysql') return 'mysql -u root -p"$MYSQL_ROOT_PASSWORD" $MYSQL_DATABASE'
  // Its image takes the variables of MySQL too.
  return 'mariadb -u root -p"$MARIADB_ROOT_PASSWORD$MYSQL_ROOT_PASSWORD" $MARIADB_DATABASE$MYSQL_DATABASE'
}

/** Null for what is written, or what cannot be known to be only read. */
function whyNot(mount: Mount, name: string, { service, files }: Mounting): string | null {
  const { type, source, target, isReadOnly } = mount
  if (type === 'volume' && source === '' && target !== '.')
    return `it has no name, so it is no disk: if its files must stay, set disk_mount_path: ${target}`
  if (!/^(volume|bind)$/.test(type) || !target.startsWith('/'))
    return `a mount of type ${type} is no disk: if its files must stay, set disk_mount_path`
  if (/\.sock$/.test(source)) return 'an instance has no rights on the host, and no access to its programs'
  if (/^\/etc\/(localtime|timezone)$/.test(source)) return 'an instance sees no files of the host: set TZ'
  if (type === 'bind' && hostPaths.test(source))
    return 'an instance sees no files of the host: COPY what it needs into the image'
  const image = service.build === undefined ? ` (a Dockerfile with FROM ${service.image})` : ''
  if (initFolder.test(target)) {
    const program = /\.sql$/.test(source) ? clientOf(String(service.image)) : null
    const byHand = program && `, or berth ssh ${name} -- '${program}' < ${shellPath(source, files.base)}`
    return `it is not run: COPY ${source} into the image${image}${byHand ?? ''}`
  }
  if (isReadOnly && type === 'volume')
    return 'it is only read, and services share no files: COPY what it needs into the image'
  if (isReadOnly) return `an instance sees no files of the host: COPY ${source} into the image${image}`
  if (type === 'volume') return null
  if (isSourceCode(source, service.build))
    return 'it is source code: the build has it, and berth up changes it'
  if (isFile(source, target, files))
    return (
      `a single file is not mounted: COPY ${source} into the image${image}; one that is written needs a ` +
      `disk for its folder ${posix.dirname(target)}`
    )
  return null
}

function isFile(source: string, target: string, { isFolder }: Surroundings): boolean {
  const isKnown = isFolder?.(source) ?? null
  return isKnown === null ? fileName.test(source) && fileName.test(target) : !isKnown
}

/** A folder around the Compose file or the build, or one of a build that has the name of code. */
function isSourceCode(source: string, build: unknown): boolean {
  const path = normalPath(source)
  if (path === '.' || /^(\.\.\/?)+$/.test(path)) return true
  if (build === undefined) return false
  const context = normalPath(String(isRecord(build) ? (build.context ?? '.') : build))
  const isInside = context === '.' ? !/^[./~$]/.test(path) : path.startsWith(`${context}/`)
  return path === context || (isInside && codeFolders.test(posix.basename(path)))
}

function normalPath(path: string): string {
  return posix.normalize(path).replace(/(?<=.)\/$/, '')
}

const dataName =
  /^(data|db|content|storage|uploads?|media|library|files|state|html|volumes?|var|mnt|srv|www)$/i
/** Folders that have no programs of an image, so that a disk hides none. */
const parentName = /^(data|storage|content|uploads?|media|files|volumes?|mnt|srv|config)$/i
const sideName = /^(logs?|cache|tmp|plugins?|plugin_\w+|extensions|themes?|backups?|export|consume)$/i
const settingsName = /^\/etc\/|\/(config|conf|conf\.d|provisioning|templates|certs?|ssl)$/i

/** The mount with the others in it, a folder of data that they are all in, or the one that matters most. */
function chooseDisk(mounts: Mount[], image: string): string {
  const targets = mounts.map(({ target }) => target)
  const common = targets.reduce(commonFolder)
  if (targets.includes(common) || parentName.test(posix.basename(common))) return common
  const known = dataPathOf(image)
  const weigh = (target: string) => {
    const name = posix.basename(target)
    const isSide = sideName.test(name) || settingsName.test(target)
    const inside = targets.filter((other) => isWithin(other, target)).length
    return (target === known ? 100 : 0) + (dataName.test(name) ? 10 : 0) - (isSide ? 10 : 0) + inside
  }
  return targets.toSorted((one, other) => weigh(other) - weigh(one))[0]!
}

function commonFolder(one: string, other: string): string {
  const [words, others] = [one.split('/'), other.split('/')]
  const end = words.findIndex((word, index) => word !== others[index])
  return (end === -1 ? words : words.slice(0, end)).join('/') || '/'
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

/** Images whose files must not change while they run. */
const databases =
  /(^|\/)(mysql|mariadb|mongo|postg|pgvector|timescaledb|clickhouse|elastic|opensearch|influxdb)/

function lineFor(mount: Mount, disk: string, draft: Draft, { files, owners, service }: Mounting): string {
  const { type, source, target } = mount
  const { name, original } = draft
  const isInside = isWithin(target, disk)
  const path = isInside ? target : posix.join(disk, posix.basename(target))
  const top = posix.relative(disk, path)
  const isDatabase = databases.test(String(service.image ?? ''))
  const to = isDatabase ? `disk:${name}:/${top}` : `${name}:${path}`
  const copy =
    type === 'bind'
      ? `berth cp ${shellPath(source, files.base, '/.')} ${quote(to)}`
      : `docker run --rm -v ${quote(source)}:/from busybox tar -cC /from . | berth cp - ${quote(to)}`
  const steps = `berth suspend ${name}, then ${copy}, then berth resume ${name}`
  const copied = isDatabase ? `${steps}, while the old one is stopped` : `${copy} copies its files there`
  const owner = owners.get(normalPath(source))
  owners.set(normalPath(source), owner ?? original)
  const advice = 'they share no files, so one service must do the work of both'
  const ofOther = `its disk is not that of ${owner}: ${advice}`
  const shared = owner === undefined ? '' : `${ofOther}; `
  if (!isInside && type === 'bind' && settingsName.test(target))
    return `${shared}COPY ${source} into the image: a service has one disk, here at ${disk}`
  if (!isInside) {
    const how = `let the app keep them below ${disk}: ${copied}`
    return `${shared}a service has one disk, here at ${disk}, and these files are not on it; ${how}`
  }
  if (owner !== undefined) return ofOther
  return target === disk ? `the disk begins empty: ${copied}` : `it is in the disk at ${disk}: ${copied}`
}

/** From the folder of the blueprint. A shell expands ~ and a variable. */
function shellPath(source: string, base: string, below = ''): string {
  const isAbsolute = /^([/~$]|[a-z]:)/i.test(source)
  const path = normalPath(isAbsolute ? source : posix.join(base, source))
  const shown = `${/^[/~$.]|^[a-z]:/i.test(path) ? path : `./${path}`}${below}`
  return /^(~|\$\{\w+\})[\w/.-]*$/.test(shown) ? shown : quote(shown)
}

/** Of a database that becomes a datastore. */
export function nameDatastoreMounts(draft: Draft, value: unknown, mounting: Mounting): Lines {
  return listOf(value).map((entry, index) => {
    const { source, target } = toMount(entry, index, mounting)
    return [datastoreLine(draft, { source, target }, mounting.files), index]
  })
}

function datastoreLine(
  { kind, name, original, login }: Draft,
  { source, target }: Pick<Mount, 'source' | 'target'>,
  files: Surroundings,
): string {
  const path = shellPath(source, files.base)
  if (initFolder.test(target)) {
    if (/\.sh$/.test(source)) return `it is not run: give its SQL to berth db psql ${name}`
    if (/\.gz$/.test(source)) return `it is not run: gunzip -c ${path} | berth db psql ${name}`
    const isSql = /\.sql$/.test(source) && files.isFolder?.(source) !== true
    return isSql
      ? `it is not run: berth db psql ${name} < ${path}`
      : `its scripts are not run: cat ${path}/*.sql | berth db psql ${name}`
  }
  if (/(^\/data|\/postgresql(\/.*)?|\/(redis|valkey)\/data)$/.test(target) && !fileName.test(target)) {
    const stays = `its files stay in ${source || target}, and the datastore begins empty`
    if (kind === 'redis') {
      const save = `docker compose exec ${original} redis-cli save`
      const copy = `docker compose cp ${original}:/data/dump.rdb .`
      return `${stays}: ${save} && ${copy} && berth db restore ${name} < dump.rdb`
    }
    const { user, database } = login
    const dump = `pg_dump -Fc -U ${quote(user!.value)} ${quote(database!.value)}`
    return `${stays}: docker compose exec -T ${original} ${dump} | berth db restore ${name}`
  }
  if (/\.conf$|\/conf\b/.test(target)) {
    const set = kind === 'postgres' ? `: berth db psql ${name} -c "alter system set …"` : ''
    return `the datastore has settings of its own${set}`
  }
  return `a datastore sees no files of the host: berth db backup ${name} > FILE saves it`
}
