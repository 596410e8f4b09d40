// Builds a source by its recipe as it is printed, runs the image as Berth would, and looks at what it says.
import { appendFile, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Container } from 'dockerode'
import { siteDockerfile } from '../../../src/builders/static-site/static-site.ts'
import type { BuildRequest } from '../../../src/docker/build/build.ts'
import { createBuildKit } from '../../../src/docker/build/build-kit.ts'
import { type Engine, openEngine } from '../../../src/docker/engine/client.ts'
import { imageName, type Owner, ownerLabels } from '../../../src/docker/engine/names.ts'
import { inspectImage } from '../../../src/docker/images/images.ts'
import { printDockerfile, type Recipe } from '../../../src/recipes/index.ts'
import { createIds } from '../../../storage/store/ids.ts'
import { unlimited } from '../docker/build-site.ts'
import { removeAll, testOwner, until } from '../docker/docker-site.ts'
import { ensureEngine } from '../docker/engine.ts'
import { provideBases, type RecipeBases, readBases } from '../docker/recipe-bases.ts'
import { siteServerImage } from '../docker/server-images.ts'

/** What an image says: over HTTP, or on its output. */
export type Expectation = { path: string; status: number; text: string } | { prints: string }

export interface Dish {
  buildSeconds: number
  /** With one line of the source changed. */
  rebuildSeconds: number
  /** What the recipe adds to its base. */
  ownMegabytes: number
}

export interface Kitchen {
  /** Throws if it is not built, or does not say what is expected. */
  serve(tree: string, recipe: Recipe, expected: Expectation): Promise<Dish>
  close(): Promise<void>
}

const buildMs = 8 * 60_000
const answerMs = 60_000
const sitePort = 8080
const source = /\.(tsx?|jsx?|mjs|vue|svelte|astro|html|py|go|rb|php|rs|sh)$/

export async function openKitchen(): Promise<Kitchen> {
  const engine = openEngine(await ensureEngine())
  const owner = testOwner()
  const builder = createBuildKit(engine, unlimited(owner))
  const bases = new Map<string, RecipeBases>()

  async function build(contextDir: string, dockerfile: string, ignore: string[]): Promise<string> {
    const tag = imageName(owner, 'fixture', createIds().newId('dep'))
    const lines: string[] = []
    await writeFile(join(contextDir, 'recipe.Dockerfile'), dockerfile)
    const common: BuildRequest = {
      contextDir,
      dockerfile: 'recipe.Dockerfile',
      ignore,
      tag,
      labels: {},
      noCache: false,
      cacheNamespace: 'fixtures',
      buildArgs: {},
      secrets: [],
      registries: [],
      onLine: (_, line) => void lines.push(line),
      signal: AbortSignal.timeout(buildMs),
    }
    await builder.build(common).catch((error: Error) => {
      throw new Error(`${error.message}\n${lines.slice(-25).join('\n')}`)
    })
    return tag
  }

  async function buildRecipe(contextDir: string, recipe: Recipe): Promise<string> {
    const tree = await build(contextDir, printDockerfile(recipe), recipe.ignore)
    if (recipe.site === null) return tree
    const server = { server: await siteServerImage(), serverFolder: null }
    const { folder, fallback: isSpa } = recipe.site
    return build(contextDir, siteDockerfile({ ...server, isSpa, from: tree, folder, needsIndex: true }), [
      '*',
    ])
  }

  return {
    async serve(tree, recipe, expected) {
      const dockerfile = printDockerfile(recipe)
      for (const base of readBases(dockerfile))
        if (!bases.has(base)) bases.set(base, await provideBases([base]))
      const directory = await mkdtemp(join(tmpdir(), 'berth-test-'))
      try {
        await cp(tree, directory, { recursive: true, verbatimSymlinks: true })
        const contextDir = join(directory, recipe.context)
        const [buildSeconds, image] = await measure(() => buildRecipe(contextDir, recipe))
        await run(engine, owner, image, recipe.site ? sitePort : (recipe.port ?? 0), expected)
        await changeLine(contextDir)
        const [rebuildSeconds] = await measure(() => buildRecipe(contextDir, recipe))
        const ownBytes = (await sizeOf(engine, image)) - (await baseSize(engine, recipe))
        return { buildSeconds, rebuildSeconds, ownMegabytes: ownBytes / 1e6 }
      } finally {
        await rm(directory, { recursive: true })
        await removeAll(engine, owner.prefix)
      }
    },
    async close() {
      for (const given of bases.values()) await given.release()
      engine.close()
    },
  }
}

async function run(
  engine: Engine,
  owner: Owner,
  image: string,
  listens: number,
  expected: Expectation,
): Promise<void> {
  const container = await engine.docker.createContainer({
    Image: image,
    Labels: ownerLabels(owner),
    HostConfig: { CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges:true'], Init: true },
  })
  await container.start()
  const { NetworkSettings } = await container.inspect()
  const host = NetworkSettings.Networks.bridge?.IPAddress ?? ''
  let answer = ''
  const look = async () => {
    if ('prints' in expected) return (await readOutput(container)).includes(expected.prints)
    answer = await ask(host, listens, expected.path).catch(String)
    return answer.startsWith(`${expected.status}\n`) && answer.includes(expected.text)
  }
  const lookAtLiving = async () => {
    const { Running } = (await container.inspect()).State
    if (await look()) return true
    if (!Running) throw new Error('it ended')
    return false
  }
  await until('it says what is expected', lookAtLiving, answerMs).catch(async (error: Error) => {
    const output = (await readOutput(container)).slice(-2000)
    throw new Error(`${error.message}; it answered ${answer.slice(0, 500)}; its output is ${output}`)
  })
  await container.remove({ force: true, v: true })
}

/** Each piece has a head of eight bytes, which ends with its length. */
async function readOutput(container: Container): Promise<string> {
  const bytes = await container.logs({ stdout: true, stderr: true, follow: false })
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at + 4)
    pieces.push(bytes.subarray(at + 8, end))
    at = end
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** The status, and on the following lines the body. */
function ask(host: string, port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const question = request({ host, port, path, agent: false, timeout: 5000 })
    question.on('error', reject)
    question.on('timeout', () => question.destroy(new Error('no answer')))
    question.on('response', (response) => {
      text(response).then((body) => resolve(`${response.statusCode}\n${body}`), reject)
    })
    question.end()
  })
}

async function changeLine(directory: string): Promise<void> {
  const names = await readdir(directory, { recursive: true })
  const [first] = names.filter((name) => source.test(name) && !name.includes('node_modules')).sort()
  if (first) await appendFile(join(directory, first), '\n')
}

async function measure<T>(work: () => Promise<T>): Promise<[number, T]> {
  const started = performance.now()
  const result = await work()
  return [(performance.now() - started) / 1000, result]
}

async function sizeOf(engine: Engine, image: string): Promise<number> {
  return (await inspectImage(engine, image))?.sizeBytes ?? 0
}

/** Of pages, that of the server. */
async function baseSize(engine: Engine, { stages, site }: Recipe): Promise<number> {
  if (site) return sizeOf(engine, await siteServerImage())
  let from = stages.at(-1)?.from ?? ''
  for (let parent = stages.find(({ name }) => name === from); parent; ) {
    from = parent.from
    parent = stages.find(({ name }) => name === from)
  }
  return sizeOf(engine, from)
}
