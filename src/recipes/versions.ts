// Chooses the version of a language from what the source asks for.
import semver from 'semver'
import type { Tree } from './tree.ts'

const maxWish = 100

/** A wish for a version, with where it stands: `engines.node ">=22" in package.json`. */
export interface VersionWish {
  text: string
  reason: string
}

export interface Version {
  /** As in the tag of an image: `22`, `3.12`, `20.11.1`. */
  tag: string
  reason: string
}

interface Supported {
  /** `22`, `3.13`: what has an image, the newest last. */
  tags: string[]
  /** Taken without a wish, and from a range that it is in. */
  usual: string
}

/** The first wish that is understood decides. An exact version is taken as it is. */
export function chooseVersion(wishes: VersionWish[], { tags, usual }: Supported): Version {
  for (const { text, reason } of wishes) {
    const tag = resolve(text, tags, usual)
    if (tag !== null)
      return { tag, reason: isNewer(tag, tags) ? `${reason}, newer than Berth knows` : reason }
  }
  const [wish] = wishes
  const why = wish ? `because no version is known for ${wish.reason}` : 'because the source asks for none'
  return { tag: usual, reason: `the usual version, ${why}` }
}

/** Such an image may not exist. */
function isNewer(tag: string, tags: string[]): boolean {
  const [newest = 0] = tags.map((one) => Number(one.split('.')[0])).sort((one, other) => other - one)
  return Number(tag.split('.')[0]) > newest + 2
}

function resolve(text: string, tags: string[], usual: string): string | null {
  const wish = text.trim().replace(/^([a-z]+-|v)(?=\d)/, '')
  if (/^\d+(\.\d+){0,2}$/.test(wish)) return wish
  const range = wish.length > maxWish ? null : semver.validRange(toRange(wish))
  if (range === null) return null
  // A tag stands for its newest patch release.
  const fits = (tag: string) => semver.intersects(tag.includes('.') ? `~${tag}` : tag, range)
  return [usual, ...[...tags].reverse()].find(fits) ?? null
}

/** Also understands Python's ranges: `>=3.11,<4`, `==3.12.*`, `~=3.11`. */
function toRange(wish: string): string {
  return wish
    .replace(/,\s*/g, ' ')
    .replace(/~=\s*(\d+\.\d+)(?!\.)/g, '^$1')
    .replace(/~=\s*/g, '~')
    .replace(/===?\s*/g, '')
    .replace(/!=\s*\S+/g, '')
    .replace(/\.\*/g, '.x')
}

/** Wishes of the files that name a version and nothing else, and of asdf and mise. */
export function readVersionFiles(app: Tree, files: string[], tool: string): VersionWish[] {
  const firstLine = /^\s*([^#\s].*?)\s*$/m
  const plain = files.flatMap((file) => wish(firstLine.exec(app.text(file))?.[1], file))
  const [, asdf] = new RegExp(`^${tool}(?:js)?[ \\t]+(\\S+)`, 'm').exec(app.text('.tool-versions')) ?? []
  const tools = (app.toml('mise.toml').tools ?? {}) as Record<string, unknown>
  const mise = tools[tool]
  return [
    ...plain,
    ...wish(asdf, '.tool-versions'),
    ...wish(typeof mise === 'string' || typeof mise === 'number' ? String(mise) : undefined, 'mise.toml'),
  ]
}

function wish(text: string | undefined, file: string): VersionWish[] {
  return text ? [{ text, reason: `${text} in ${file}` }] : []
}
