// The base images that recipes name, for as long as a test needs them: without a registry, images of our own
// stand in under the official tags.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { cacheDirectory } from '../debian/packages.ts'
import { repository } from '../debian/recipe.ts'
import { createRootFilesystem } from '../debian/root-filesystem.ts'
import { withFileLock } from '../system/file-lock.ts'
import { MissingPrerequisite } from '../system/missing-prerequisite.ts'
import { ensureEngine } from './engine.ts'
import { requestEngine } from './engine-request.ts'
import { baseLabel, ensureImageFrom, ensureTestImage } from './images.ts'
import { findStandIn, type Layer } from './stand-ins.ts'

export interface RecipeBases {
  /** Takes the tags away that were given here. Official images stay. */
  release(): Promise<void>
}

const lock = join(cacheDirectory, 'recipe-bases.lock')
const borrowed = join(cacheDirectory, 'recipe-bases')
let borrowings = 0

/** The images that a Dockerfile builds on, without its own stages. */
export function readBases(dockerfile: string): string[] {
  const stages = new Set(['scratch'])
  const bases = new Set<string>()
  for (const [, from = '', stage] of dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)) {
    if (!stages.has(from)) bases.add(from)
    if (stage) stages.add(stage)
  }
  return [...bases]
}

/** Resolves when the images are on the engine. Throws `MissingPrerequisite` if none can stand in. */
export async function provideBases(references: string[]): Promise<RecipeBases> {
  const engine = await ensureEngine()
  const borrower = `${process.pid}.${++borrowings}`
  const given: string[] = []
  for (const reference of references) if (await provide(engine, reference, borrower)) given.push(reference)
  return {
    async release() {
      for (const reference of given) await giveBack(engine, reference, borrower)
    },
  }
}

/** Whether an image stands in now. */
function provide(engine: string, reference: string, borrower: string): Promise<boolean> {
  return withFileLock(lock, async () => {
    const { status, text } = await requestEngine(engine, `/images/${reference}/json`)
    if (status !== 200) await standIn(engine, reference)
    else if (JSON.parse(text).Config.Labels?.[baseLabel] === undefined) return false
    await mkdir(folderOf(reference), { recursive: true })
    await writeFile(join(folderOf(reference), borrower), '')
    return true
  })
}

async function standIn(engine: string, reference: string): Promise<void> {
  const recipe = findStandIn(reference)
  if (recipe === null) throw new MissingPrerequisite(`there is no image ${reference}, and none can stand in`)
  const own = 'base' in recipe ? await ensureLayer(engine, recipe) : await ensureTestImage(engine, recipe)
  const [repo = '', tag = ''] = reference.split(':')
  console.error(`${own} stands in for ${reference}.`)
  const path = `/images/${own}/tag?repo=${encodeURIComponent(repo)}&tag=${encodeURIComponent(tag)}`
  const { status, text } = await requestEngine(engine, path, { method: 'POST' })
  if (status !== 201) throw new Error(`the engine gave no tag: ${text}`)
}

async function ensureLayer(engine: string, { name, base, inputs, lines, fill }: Layer): Promise<string> {
  const dockerfile = [`FROM ${await ensureTestImage(engine, base)}`, 'ADD files.tar /', ...lines].join('\n')
  const hash = createHash('sha256')
    .update(JSON.stringify([dockerfile, inputs]))
    .digest('hex')
    .slice(0, 12)
  const reference = `${repository}/${name}:${hash}`
  await ensureImageFrom(engine, reference, async () => {
    const root = createRootFilesystem()
    await fill(root)
    const context = pack()
    context.entry({ name: 'Dockerfile' }, dockerfile)
    context.entry({ name: 'files.tar' }, await root.toTar())
    context.finalize()
    return buffer(context)
  })
  return reference
}

function giveBack(engine: string, reference: string, borrower: string): Promise<void> {
  return withFileLock(lock, async () => {
    await rm(join(folderOf(reference), borrower), { force: true })
    if ((await readBorrowers(reference)).length > 0) return
    await rm(folderOf(reference), { recursive: true, force: true })
    await requestEngine(engine, `/images/${reference}?noprune=1`, { method: 'DELETE' })
  })
}

/** Who uses a tag; a process that was killed counts no more. */
async function readBorrowers(reference: string): Promise<string[]> {
  const borrowers = await readdir(folderOf(reference)).catch(() => [])
  return borrowers.filter((borrower) => existsSync(`/proc/${borrower.split('.')[0]}`))
}

function folderOf(reference: string): string {
  return join(borrowed, encodeURIComponent(reference))
}
