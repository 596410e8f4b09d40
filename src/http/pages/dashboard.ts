// The dashboard: its document for each of its addresses, and its files, as `npm run build` made them.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { notFound } from '../../errors.ts'
import type { Dashboard } from '../pipeline/context.ts'
import { type Call, Page } from '../pipeline/route.ts'
import { StaticFile } from '../server/static-file.ts'
import { html } from './html.ts'
import { accountPath, pageOf, redirect } from './layout.ts'
import type { SignedInCall } from './signed-in.ts'

/** Nothing inline, and nothing of another origin. React writes no markup from text (Trusted Types). */
const policy = [
  "default-src 'none'",
  ...['script', 'style', 'font', 'connect'].map((kind) => `${kind}-src 'self'`),
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
}

export const AssetParams = z.object({ file: z.string() })

export function showStart({ context }: Pick<Call, 'context'>): Page {
  return redirect(context.dashboard ? '/services' : accountPath)
}

/** For every address of the dashboard: the page itself finds out what to show. */
export function showDashboard({ context: { dashboard, storage }, request }: SignedInCall): Page {
  return dashboard
    ? new Page(200, documentFor(dashboard, storage.changes.head(), request.path), [
        ['Content-Security-Policy', policy],
      ])
    : pageOf({
        title: 'The dashboard is not built',
        body: html`<h1>The dashboard is not built</h1>
<p>This server runs from source. Build the dashboard, and start the server again:</p>
<p class="command"><code>npm run build</code></p>
<p><a class="button" href="${accountPath}">Account</a></p>`,
      })
}

/** Says which build it is of, and after which change its records are read: the feed continues there. */
function documentFor({ document, build }: Dashboard, change: number, path: string): string {
  const isRecord = /^\/services(\/[a-z0-9-]+)?$/.test(path)
  const first = isRecord
    ? `<link rel="preload" as="fetch" href="/api/v1${path}" crossorigin>\n</head>`
    : '</head>'
  return document
    .replace('<html ', `<html data-build="${build}" data-change="${change}" `)
    .replace('</head>', first)
}

export function sendAsset({ context, params: { file } }: Call<{ file: string }>): StaticFile {
  const found = context.dashboard?.files.get(file)
  if (!found) throw notFound(`there is no file ${file}`)
  return found
}

/** Next to the compiled code, or where a build of this repository puts it. */
const folders = ['../../../dashboard', '../../../dist/dashboard'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

/** Null if it was not built. */
export function openDashboard(): Dashboard | null {
  const folder = folders.find(
    (path) => existsSync(join(path, 'index.html')) && existsSync(join(path, 'assets')),
  )
  if (folder === undefined) return null
  const assets = join(folder, 'assets')
  const read = (name: string) => (existsSync(join(assets, name)) ? readFileSync(join(assets, name)) : null)
  const files = readdirSync(assets).flatMap((name): [string, StaticFile][] => {
    const type = types[extname(name)]
    const bodies = { plain: read(name)!, br: read(`${name}.br`), gzip: read(`${name}.gz`) }
    return type ? [[name, new StaticFile(type, bodies)]] : []
  })
  const document = readFileSync(join(folder, 'index.html'), 'utf8')
  const build = createHash('sha256').update(document).digest('hex').slice(0, 16)
  return { document, build, files: new Map(files) }
}
