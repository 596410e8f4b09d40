// Builds a static site: a folder of the source, or of what its Dockerfile built, in the image of a server.
// With a Dockerfile there are two builds, and the intermediate image must be removed afterwards.
import { mkdir, realpath, stat, writeFile } from 'node:fs/promises'
import { join, posix, relative } from 'node:path'
import type { ServiceSettings } from '../../../../storage/services.ts'
import { ignoreLines, readIgnoreFile } from '../../../docker/dockerfile/ignore-rules.ts'
import { treeName } from '../../../docker/engine/names.ts'
import { inspectImage, removeImage } from '../../../docker/images/images.ts'
import { Failure, messageOf } from '../../../errors.ts'
import type { DeployPhase } from '../phase.ts'
import { checkoutDirectory, isInside, resolveInside, resolveRoot, workDirectory } from '../source/source.ts'
import { buildDockerfile, imageLabels } from './dockerfile.ts'
import { obtainNginx, serverLines, siteOwner, writeServerFiles } from './site-server.ts'

/** Usual folders of static sites, to suggest one when none was set. */
const usualFolders = ['public', 'dist', 'build', '_site', 'out', 'www']

/** Builds the image of a static site's deploy. Throws `site_not_found`, and what a build throws. */
export async function buildSite(phase: DeployPhase, image: string, clearCache: boolean): Promise<void> {
  const { ports, id, release } = phase
  const { dockerfile_path, root_dir } = release.settings
  const root = await resolveRoot(phase)
  const usual = join(root_dir ?? '.', 'Dockerfile')
  const hasDockerfile = dockerfile_path !== null || (await isInside(checkoutDirectory(ports, id), usual))
  await (hasDockerfile ? buildFromDockerfile(phase, image, clearCache) : buildFromSource(phase, image, root))
}

async function buildFromSource(phase: DeployPhase, image: string, root: string): Promise<void> {
  const { settings } = phase.release
  const folder = await findFolder(settings, root)
  phase.log.info(`the site is ${describeFolder(settings)} of the source`)
  // The context is the deploy's whole work directory, so that the Dockerfile is not a part of the site.
  const contextDir = await realpath(workDirectory(phase.ports, phase.id))
  const [site, rulesRoot] = [relative(contextDir, folder), relative(contextDir, root)]
  const ignore = siteIgnore(site, rulesRoot, (await readIgnoreFile(root, '.dockerignore'))?.text ?? '')
  const found = { from: null, folder: site, needsIndex: false }
  await buildServer(phase, image, contextDir, ignore, found).catch((error: unknown) => {
    if (!isMissing(error)) throw error
    throw new Failure('site_not_found', `${describeFolder(settings)} is left out by .dockerignore`)
  })
}

function describeFolder({ publish_dir, root_dir }: ServiceSettings): string {
  return publish_dir ?? root_dir ?? 'the top folder'
}

async function findFolder({ publish_dir, spa_fallback }: ServiceSettings, root: string): Promise<string> {
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

async function buildFromDockerfile(phase: DeployPhase, image: string, clearCache: boolean): Promise<void> {
  const { ports, log } = phase
  const { publish_dir, spa_fallback } = phase.release.settings
  const tree = treeName(ports.owner, phase.service.name, phase.id)
  try {
    await buildDockerfile(phase, tree, clearCache, 'tree')
    const folder = await folderInImage(phase, tree)
    const site = { from: tree, folder, needsIndex: publish_dir === null || spa_fallback }
    log.info(`the site is ${folder} of the last stage`)
    await buildServer(phase, image, await createGeneratedDirectory(phase), [], site).catch(
      (error: unknown) => {
        throw isMissing(error) ? notInImage(site) : error
      },
    )
  } finally {
    await removeTree(phase, tree)
  }
}

/** `publish_dir`, resolved like an argument of `cd` in the last stage. */
async function folderInImage({ ports, release }: DeployPhase, tree: string): Promise<string> {
  const { publish_dir } = release.settings
  if (publish_dir === null) return '/'
  const image = await inspectImage(ports.engine, tree)
  return posix.resolve('/', image?.workingDir ?? '/', publish_dir)
}

function notInImage({ folder, needsIndex }: { folder: string; needsIndex: boolean }): Failure {
  const missing = needsIndex ? posix.join(folder, 'index.html') : folder
  const advice = 'the publish dir is the folder of the site, as /app/dist or from its WORKDIR'
  return new Failure('site_not_found', `the last stage of the Dockerfile has no ${missing}; ${advice}`)
}

/** If the image cannot be removed now, the cleanup of the deploy and the next start retry it. */
async function removeTree({ ports }: DeployPhase, tree: string): Promise<void> {
  await removeImage(ports.engine, ports.owner, tree).catch((error: unknown) => {
    const fields = { image: tree, reason: messageOf(error) }
    ports.logger.info(fields, 'the intermediate image of a static site could not be removed')
  })
}

async function buildServer(
  phase: DeployPhase,
  image: string,
  contextDir: string,
  ignore: string[],
  site: Pick<Site, 'from' | 'folder' | 'needsIndex'>,
): Promise<void> {
  const { ports, log, signal } = phase
  const directory = await createGeneratedDirectory(phase)
  const server = await prepareServer(phase, contextDir, join(directory, 'server'))
  const dockerfile = join(directory, 'Dockerfile')
  const isSpa = phase.release.settings.spa_fallback
  await writeFile(dockerfile, siteDockerfile({ ...site, ...server, isSpa }))
  await ports.builder.build({
    contextDir,
    dockerfile: relative(contextDir, dockerfile),
    ignore: server.serverFolder === null ? ignore : [...ignore, `!${server.serverFolder}`],
    tag: image,
    labels: imageLabels(phase, 'image'),
    noCache: false,
    cacheNamespace: '',
    buildArgs: {},
    secrets: [],
    registries: ports.storage.registries.list(),
    onLine: log.build,
    signal,
  })
}

/** For files that Berth generates, outside of the checkout: no file of the source can interfere. */
async function createGeneratedDirectory({ ports, id }: DeployPhase): Promise<string> {
  const directory = join(workDirectory(ports, id), 'generated')
  await mkdir(directory, { recursive: true })
  return realpath(directory)
}

/** The image of --static-image, or nginx and the files in `folder` that configure it. */
async function prepareServer({ ports, log, signal }: DeployPhase, contextDir: string, folder: string) {
  const { engine, settings } = ports
  if (settings.staticImage !== '') return { server: settings.staticImage, serverFolder: null }
  const server = await obtainNginx(engine, ({ reason }) => log.info(reason), signal)
  log.info(`the server is ${server}`)
  await writeServerFiles(folder)
  return { server, serverFolder: relative(contextDir, folder) }
}

export interface Site {
  /** The server image: nginx, or an image that serves /site on $PORT, and reads BERTH_SPA. */
  server: string
  /** The folder of the context with the configuration of nginx; null for a complete server. */
  serverFolder: string | null
  isSpa: boolean
  /** The image that contains the site; null for the build context. */
  from: string | null
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

/** Keeps no dotfiles except .well-known. `rules` are the user's own, relative to the folder `root`. */
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
