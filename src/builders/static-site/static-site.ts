// Builds a static site: a folder of the source, or of what was built from it, in the image of a server.
// What was built is an intermediate image, which must be removed afterwards.
import { realpath, stat, writeFile } from 'node:fs/promises'
import { join, posix, relative } from 'node:path'
import type { ServiceSettings } from '../../../storage/services.ts'
import { ignoreLines, readIgnoreFile } from '../../docker/dockerfile/ignore-rules.ts'
import { inspectImage } from '../../docker/images/images.ts'
import { Failure } from '../../errors.ts'
import { isInside, resolveInside } from '../../sources/source-path.ts'
import type { Builder, BuildJob } from '../builder.ts'
import { createGeneratedDirectory, resolveRoot } from '../source-folder.ts'
import { removeTree } from '../tree-image.ts'
import { obtainNginx, serverLines, siteOwner, writeServerFiles } from './site-server.ts'

export const staticSite: Builder = {
  name: 'static-site',
  detects: async ({ settings }) => settings.type === 'static_site',
  build: serveSource,
}

/** Throws `site_not_found`, and what a build throws. */
async function serveSource(job: BuildJob): Promise<void> {
  const { settings, log } = job
  const root = await resolveRoot(job)
  const folder = await findFolder(settings, root)
  log.info(`the site is ${describeFolder(settings)} of the source`)
  // The context is the deploy's whole folder, so that the Dockerfile is not a part of the site.
  const contextDir = await realpath(job.directory)
  const [site, rulesRoot] = [relative(contextDir, folder), relative(contextDir, root)]
  const ignore = siteIgnore(site, rulesRoot, (await readIgnoreFile(root, '.dockerignore'))?.text ?? '')
  const found = { from: null, folder: site, isSpa: settings.spa_fallback, needsIndex: false }
  await buildServer(job, contextDir, ignore, found).catch((error: unknown) => {
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
  if (publish_dir === null) {
    throw new Failure('site_not_found', 'the source has neither a Dockerfile nor an index.html at its top')
  }
  if (!spa_fallback) return folder
  throw new Failure(
    'site_not_found',
    `the publish dir ${publish_dir} has no index.html, which --spa-fallback needs`,
  )
}

/** Serves a folder of the intermediate image that `buildTree` builds, by default the publish dir. */
export async function serveTree(
  job: BuildJob,
  buildTree: () => Promise<void>,
  wanted: { folder: string; fallback: boolean } | null = null,
): Promise<void> {
  const { publish_dir, spa_fallback } = job.settings
  const from = job.tree.tag
  try {
    await buildTree()
    const folder = wanted?.folder ?? (await folderInImage(job))
    const isSpa = spa_fallback || wanted?.fallback === true
    const site = { from, folder, isSpa, needsIndex: publish_dir === null || isSpa }
    job.log.info(`the site is ${folder} of the last stage`)
    await buildServer(job, await createGeneratedDirectory(job), [], site).catch((error: unknown) => {
      throw isMissing(error) ? notInImage(site, wanted !== null) : error
    })
  } finally {
    await removeTree(job)
  }
}

/** `publish_dir`, resolved like an argument of `cd` in the last stage. */
async function folderInImage({ engine, tree, settings }: BuildJob): Promise<string> {
  const { publish_dir } = settings
  if (publish_dir === null) return '/'
  const image = await inspectImage(engine, tree.tag)
  return posix.resolve('/', image?.workingDir ?? '/', publish_dir)
}

function notInImage({ folder, needsIndex }: Pick<Site, 'folder' | 'needsIndex'>, byRecipe: boolean): Failure {
  if (byRecipe) return new Failure('site_not_found', 'the pages that the build leaves have no index.html')
  const missing = needsIndex ? posix.join(folder, 'index.html') : folder
  const advice = 'the publish dir is the folder of the site, as /app/dist or from its WORKDIR'
  return new Failure('site_not_found', `the last stage of the Dockerfile has no ${missing}; ${advice}`)
}

async function buildServer(
  job: BuildJob,
  contextDir: string,
  ignore: string[],
  site: Omit<Site, 'server' | 'serverFolder'>,
): Promise<void> {
  const directory = await createGeneratedDirectory(job)
  const server = await prepareServer(job, contextDir, join(directory, 'server'))
  const dockerfile = join(directory, 'Dockerfile')
  await writeFile(dockerfile, siteDockerfile({ ...site, ...server }))
  await job.driver.build({
    ...job.image,
    contextDir,
    dockerfile: relative(contextDir, dockerfile),
    ignore: server.serverFolder === null ? ignore : [...ignore, `!${server.serverFolder}`],
    noCache: false,
    cacheNamespace: '',
    buildArgs: {},
    secrets: [],
    registries: job.registries,
    onLine: job.log.build,
    signal: job.signal,
  })
}

/** The image of --static-image, or nginx and the files in `folder` that configure it. */
async function prepareServer(
  { engine, staticImage, log, signal }: BuildJob,
  contextDir: string,
  folder: string,
) {
  if (staticImage !== '') return { server: staticImage, serverFolder: null }
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
