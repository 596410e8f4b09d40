// Pages that are served as they are.
import type { Facts } from '../facts.ts'
import { copy, type Draft, refuse, type Wishes } from '../recipe.ts'
import type { Tree } from '../tree.ts'
import type { Language } from './language.ts'

const folders = ['', 'public', 'dist', 'build', '_site', 'out', 'www', 'site']

export const pages: Language = {
  evidence: ['index.html', 'public/index.html', 'Staticfile'],
  isHere: (app) => app.has('Staticfile') || findFolder(app) !== null,
  draft,
}

function draft({ app }: Facts, { publishDir }: Wishes): Draft | ReturnType<typeof refuse> {
  const staticfile = /^root:\s*(\S+)\s*$/m.exec(app.text('Staticfile'))?.[1]
  const folder = publishDir ?? staticfile?.replace(/^\.?\/|\/$/g, '') ?? findFolder(app)
  if (folder === null)
    return refuse('its Staticfile names no folder with an index.html', { lookedFor: ['index.html'] })
  const own = staticfile ? 'root in Staticfile' : 'it has an index.html'
  const reason = publishDir ? 'publish_dir of the service' : own
  const fallback = /^(pushstate|index_fallback):\s*(enabled|true)/m.test(app.text('Staticfile'))
  return {
    title: 'Pages',
    choices: [{ what: folder === '' ? 'the folder itself is served' : `${folder} is served`, reason }],
    stages: [
      { name: 'site', from: 'scratch', steps: [copy([folder === '' ? '.' : `${folder}/`], '/site/')] },
    ],
    ignore: ['.*', '!.well-known', 'Staticfile'],
    site: { folder: '/site', fallback },
  }
}

function findFolder(app: Tree): string | null {
  return folders.find((folder) => app.has(folder === '' ? 'index.html' : `${folder}/index.html`)) ?? null
}
