// The manual, from the Markdown files in `docs/`. A page is read and rendered when it is first requested.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { RendererObject } from 'marked'
import { z } from 'zod'
import { notFound } from '../../errors.ts'
import type { Page } from '../pipeline/route.ts'
import { Html, html } from './html.ts'
import { manualPath, pageOf } from './layout.ts'

/** Three folders up in the sources, four in the build. */
const folder = ['../../../docs/', '../../../../docs/']
  .map((path) => new URL(path, import.meta.url))
  .find((path) => existsSync(path))!

const contents = 'README'

/** Also keeps a path from leaving the folder of the manual. */
export const ManualParams = z.object({ page: z.string().regex(/^[a-z-]{1,40}$/) })

/** Holds existing pages only, so requests cannot make it grow. */
const pages = new Map<string, Page>()

export function showContents(): Promise<Page> {
  return pageNamed(contents)
}

/** Throws `not_found`. */
export function showManual({ params }: { params: z.output<typeof ManualParams> }): Promise<Page> {
  return pageNamed(params.page)
}

async function pageNamed(name: string): Promise<Page> {
  const known = pages.get(name)
  if (known) return known
  const page = await renderPage(name, await readPage(name))
  pages.set(name, page)
  return page
}

async function readPage(name: string): Promise<string> {
  try {
    return await readFile(new URL(`${name}.md`, folder), 'utf8')
  } catch {
    throw notFound('the manual has no such page', `${manualPath} lists all pages`)
  }
}

async function renderPage(name: string, text: string): Promise<Page> {
  const { Marked } = await import('marked')
  const body = new Html(await new Marked({ renderer: rendererOf(name) }).parse(text))
  const title = /^# (.*)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? 'Manual'
  return pageOf({ title, body: html`<article>${body}</article>`, path: pathOf(name), width: 'manual' })
}

function rendererOf(name: string): RendererObject {
  return {
    heading({ tokens, depth, text }) {
      const content = this.parser.parseInline(tokens)
      return `<h${depth} id="${anchorOf(text)}">${content}</h${depth}>\n`
    },
    link({ href, tokens }) {
      const content = this.parser.parseInline(tokens)
      const target = targetOf(href, name)
      return target === null ? content : html`<a href="${target}">${new Html(content)}</a>`.text
    },
  }
}

/** The same anchors as on GitHub, so that links work in both places. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

/** Null for a link that is not a page of the manual, such as a file of the repository. */
function targetOf(href: string, from: string): string | null {
  const match = /^(?:([a-z-]+|README)\.md)?(#.*)?$/.exec(href)
  return match === null ? null : pathOf(match[1] ?? from) + (match[2] ?? '')
}

function pathOf(name: string): string {
  return name === contents ? manualPath : `${manualPath}/${name}`
}
