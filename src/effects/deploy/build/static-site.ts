// Builds a static site: a folder of the source, or of what its Dockerfile built, in the image of a server.
// With a Dockerfile there are two builds, and the intermediate image must be removed afterwards.
import { mkdir, realpath, stat, writeFile } from 'node:fs/promises'
import { join, posix, relative } from 'node:path'
import type { ServiceSettings } from '../../../../storage/services.ts'
import { readIgnoreFile } from '../../../docker/dockerfile/ignore-file.ts'
import { ignoreLines } from '../../../docker/dockerfile/ignore-rules.ts'
import { labels, ownerLabels, treeName } from '../../../docker/engine/names.ts'
import { inspectImage, removeImage } from '../../../docker/images/images.ts'
import { Failure, messageOf } from '../../../errors.ts'
import type { DeployLog } from '../log.ts'
import type { DeployPorts } from '../ports.ts'
import { requireRelease } from '../release.ts'
import {
  checkoutDirectory,
  generatedDirectory,
  isInside,
  resolveInside,
  resolveRoot,
  workDirectory,
} from '../source/source.ts'
import { buildDockerfile, findBuildCache } from './dockerfile.ts'
import { obtainNginx, serverLines, siteOwner, writeServerFiles } from './site-server.ts'

interface SiteInput {
  id: string
  serviceId: string
  clearCache: boolean
}

interface SiteBuild {
  ports: DeployPorts
  input: SiteInput
  settings: ServiceSettings
  image: string
  log: DeployLog
  signal: AbortSignal
}

/** Usual folders of static sites, to suggest one when none was set. */
const usualFolders = ['public', 'dist', 'build', '_site', 'out', 'www']

/** Builds the image of a static site's deploy. Throws `site_not_found`, and what a build throws. */
export async function buildSite(
  ports: DeployPorts,
  input: SiteInput,
  image: string,
  log: DeployLog,
  signal: AbortSignal,
): Promise<void> {
  const { settings } = requireRelease(ports, input.id)
  const build = { ports, input, settings, image, log, signal }
  const root = await resolveRoot(ports, input.id, settings)
  const usual = join(settings.root_dir ?? '.', 'Dockerfile')
  const hasDockerfile =
    settings.dockerfile_path !== null || (await isInside(checkoutDirectory(ports, input.id), usual))
  await (hasDockerfile ? buildFromDockerfile(build) : buildFromSource(build, root))
}

async function buildFromSource(build: SiteBuild, root: string): Promise<void> {
  const { ports, input, settings, log } = build
  const folder = await findFolder(build, root)
  log.info(`the site is ${describeFolder(settings)} of the source`)
  // The context is the deploy's whole work directory, so that the Dockerfile is not a part of the site.
  const contextDir = await realpath(workDirectory(ports, input.id))
  const [site, rulesRoot] = [relative(contextDir, folder), relative(contextDir, root)]
  const ignore = siteIgnore(site, rulesRoot, (await readIgnoreFile(root, '.dockerignore'))?.text ?? '')
  const found = { from: null, folder: site, needsIndex: false }
  await buildServer(build, contextDir, ignore, found).catch((error: unknown) => {
    if (!isMissing(error)) throw error
    throw new Failure('site_not_found', `${describeFolder(settings)} is left out by .dockerignore`)
  })
}

function describeFolder({ publish_dir, root_dir }: ServiceSettings): string {
  return publish_dir ?? root_dir ?? 'the top folder'
}

async function findFolder({ settings }: SiteBuild, root: string): Promise<string> {
  const { publish_dir, spa_fallback } = settings
  const folder = await resolveInside(root, publish_dir ?? '.', 'the publish dir')
  if (!(await stat(folder)).isDirectory()) {
    throw new Failure('site_not_found', `the publish dir ${publish_dir} is not a folder`)
  }
  if (await isInside(folder, 'index.html')) return folder
  if (publish_dir === null) throw await missingFolderFailure(root)
  if (!spa_fallback) return folder
  throw new Failure(
    'site_not_found',
    `the publish dir ${publish_dir} has no index.html, which --spa-fallback needs`,
  )
}

async function missingFolderFailure(root: string): Promise<Failure> {
  const problem = 'the source has neither a Dockerfile nor an index.html at its top'
  for (const folder of usualFolders) {
    if (await isInside(root, join(folder, 'index.html'))) {
      return new Failure('site_not_found', `${problem}; there is one in ${folder}`).with({ folder })
    }
  }
  return new Failure('site_not_found', problem)
}

async function buildFromDockerfile(build: SiteBuild): Promise<void> {
  const { ports, input, settings, log, signal } = build
  const service = ports.storage.services.get(input.serviceId)!
  const tree = treeName(ports.owner, service.name, input.id)
  try {
    await buildDockerfile(ports, input.id, log, {
      tag: tree,
      labels: imageLabels(build, 'tree'),
      ...(await findBuildCache(ports, input)),
      signal,
    })
    const folder = await folderInImage(build, tree)
    const site = { from: tree, folder, needsIndex: settings.publish_dir === null || settings.spa_fallback }
    log.info(`the site is ${folder} of the last stage`)
    await buildServer(build, await createGeneratedDirectory(build), [], site).catch((error: unknown) => {
      throw isMissing(error) ? notInImage(site) : error
    })
  } finally {
    await removeTree(ports, tree)
  }
}

/** `publish_dir`, resolved like an argument of `cd` in the last stage. */
async function folderInImage({ ports, settings }: SiteBuild, tree: string): Promise<string> {
  if (settings.publish_dir === null) return '/'
  const image = await inspectImage(ports.engine, tree)
  return posix.resolve('/', image?.workingDir ?? '/', settings.publish_dir)
}

function notInImage({ folder, needsIndex }: { folder: string; needsIndex: boolean }): Failure {
  const missing = needsIndex ? posix.join(folder, 'index.html') : folder
  const advice = 'the publish dir is the folder of the site, as /app/dist or from its WORKDIR'
  return new Failure('site_not_found', `the last stage of the Dockerfile has no ${missing}; ${advice}`)
}

/** If the image cannot be removed now, the cleanup of the deploy and the next start retry it. */
async function removeTree(ports: DeployPorts, tree: string): Promise<void> {
  await removeImage(ports.engine, ports.owner, tree).catch((error: unknown) => {
    ports.logger.info(
      { image: tree, reason: messageOf(error) },
      'the intermediate image of a static site could not be removed',
    )
  })
}

async function buildServer(
  build: SiteBuild,
  contextDir: string,
  ignore: string[],
  site: Pick<Site, 'from' | 'folder' | 'needsIndex'>,
): Promise<void> {
  const { ports, settings, image, log, signal } = build
  const directory = await createGeneratedDirectory(build)
  const server = await prepareServer(build, contextDir, join(directory, 'server'))
  const dockerfile = join(directory, 'Dockerfile')
  await writeFile(dockerfile, siteDockerfile({ ...site, ...server, isSpa: settings.spa_fallback }))
  await ports.builder.build({
    contextDir,
    dockerfile: relative(contextDir, dockerfile),
    ignore: server.serverFolder === null ? ignore : [...ignore, `!${server.serverFolder}`],
    tag: image,
    labels: imageLabels(build, 'image'),
    noCache: false,
    cacheNamespace: '',
    buildArgs: {},
    secrets: [],
    registries: ports.storage.registries.list(),
    onLine: log.build,
    signal,
  })
}

async function createGeneratedDirectory({ ports, input }: SiteBuild): Promise<string> {
  const directory = generatedDirectory(ports, input.id)
  await mkdir(directory, { recursive: true })
  return realpath(directory)
}

/** The image of --static-image, or nginx and the files in `folder` that configure it. */
async function prepareServer({ ports, log, signal }: SiteBuild, contextDir: string, folder: string) {
  const { engine, settings } = ports
  if (settings.staticImage !== '') return { server: settings.staticImage, serverFolder: null }
  const server = await obtainNginx(engine, ({ reason }) => log.info(reason), signal)
  log.info(`the server is ${server}`)
  await writeServerFiles(folder)
  return { server, serverFolder: relative(contextDir, folder) }
}

function imageLabels({ ports, input }: SiteBuild, kind: string): Record<string, string> {
  return { ...ownerLabels(ports.owner), [labels.kind]: kind, [labels.id]: input.id }
}

export interface Site {
  /** The server image: nginx, or an image that serves /site on $PORT, and reads BERTH_SPA. */
  server: string
  /** The folder of the context with the configuration of nginx; null for a complete server. */
  serverFolder: string | null
  isSpa: boolean
  /** The image that contains the site; null for the build context. */
  from: string | null
  /** The folder whose content is the site. */
  folder: string
  /** Whether the build must fail if the folder has no index.html. */
  needsIndex: boolean
}

export function siteDockerfile({ server, serverFolder, isSpa, from, folder, needsIndex }: Site): string {
  const options = [`--chown=${siteOwner}:${siteOwner}`, ...(from === null ? [] : [`--from=${from}`])]
  const copy = (path: string) =>
    `COPY ${options.join(' ')} ${JSON.stringify([escapePattern(path), '/site/'])}`
  return [
    `FROM ${server}`,
    ...(serverFolder === null ? [] : serverLines(serverFolder)),
    `ENV BERTH_SPA=${isSpa ? 1 : 0}`,
    // Missing, it fails this step: a way to look into an image that has no container.
    ...(needsIndex ? [copy(posix.join(folder, 'index.html'))] : []),
    copy(folder),
    '',
  ].join('\n')
}

/** Whether a build failed because the folder or its index.html is missing. */
export function isMissing(error: unknown): boolean {
  return error instanceof Failure && error.facts?.missing_path !== undefined
}

/**
 * Lines of a .dockerignore that include the site's folder without its dotfiles, except those in .well-known.
 * `rules` are the user's own, relative to the folder `root`.
 */
export function siteIgnore(folder: string, root: string, rules: string): string[] {
  const patterns = ignoreLines(rules).map(({ line }) =>
    line.startsWith('!') ? `!${rooted(line.slice(1))}` : rooted(line),
  )
  function rooted(pattern: string): string {
    return posix.join(escapePattern(root), pattern.trim())
  }
  const site = escapePattern(folder)
  const hidden = [`${site}/**/.*`, `!${site}/.well-known`, `${site}/.well-known/**/.*`]
  return ['*', `!${site}`, ...patterns, ...hidden]
}

/** COPY and .dockerignore treat these characters as patterns or variables, and escape them differently. */
function escapePattern(path: string): string {
  if (!/[*?[\]\\$"\p{Cc}]|\s$/u.test(path)) return path
  throw new Failure('invalid_request', `the folder '${path}' has a name that cannot be copied from`)
}
