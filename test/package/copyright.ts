// The licences of Berth, Node and everything that the package has of others, as their authors wrote them. The
// files move out of the packages: /usr/share/doc is where Debian's users look for them.
import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

const isLicence = /^(licen[cs]e|copying|copyright|notice|ofl)([.-].*)?$/i
const isModule = /^(@[^/]+\/)?[^/]+$/

/** What binaries contain besides their package, which has no texts of it. */
const contained: Record<string, string> = {
  uwebsockets:
    'Its binaries contain uSockets (Apache-2.0), BoringSSL (Apache-2.0, OpenSSL) and lsquic (MIT).',
}

export async function copyright(home: string, product: string, nodeVersion: string): Promise<string> {
  const own = await readFile(join(product, 'LICENSE'), 'utf8')
  const node = await readFile(join(product, 'bin/LICENSE'), 'utf8')
  const bundled = await modulesBelow(join(product, 'node_modules'))
  const inPages = await modulesOfPages(home)
  const texts = [
    own,
    section(`Node.js ${nodeVersion}, in /usr/lib/berth/bin`, node),
    ...(await Promise.all(bundled.map((folder) => licenceOf(folder, 'in /usr/lib/berth/node_modules')))),
    ...(await Promise.all(inPages.map((folder) => licenceOf(folder, 'in /usr/lib/berth/dist/dashboard')))),
  ]
  for (const path of ['LICENSE', 'bin/LICENSE']) await rm(join(product, path))
  for (const folder of bundled) for (const file of await licenceFiles(folder)) await rm(join(folder, file))
  return `${texts.map((text) => text.trim()).join('\n\n')}\n`
}

async function modulesBelow(modules: string): Promise<string[]> {
  const entries = await readdir(modules, { recursive: true, withFileTypes: true })
  const manifests = entries.filter(({ name, parentPath }) => {
    return name === 'package.json' && isModule.test(parentPath.split('/node_modules/').at(-1) ?? '')
  })
  return manifests.map(({ parentPath }) => parentPath).toSorted()
}

/** What the dashboard imports, and what that depends on: the build puts it into the pages. */
async function modulesOfPages(home: string): Promise<string[]> {
  const sources = join(home, 'src/dashboard')
  const files = (await readdir(sources, { recursive: true })).filter((file) => /\.(tsx?|css)$/.test(file))
  const found = new Set<string>()
  const add = async (name: string, from: string): Promise<void> => {
    const folder = [join(from, 'node_modules', name), join(home, 'node_modules', name)].find(existsSync)
    if (folder === undefined || found.has(folder)) return
    found.add(folder)
    const { dependencies = {} } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    for (const name of Object.keys(dependencies)) await add(name, folder)
  }
  for (const file of files.filter((file) => !file.startsWith('build/') && file !== 'vite.config.ts')) {
    const text = await readFile(join(sources, file), 'utf8')
    for (const [, name] of text.matchAll(/(?:from |url\()["']((?:@[^/"']+\/)?[a-z][^/"':]*)["'/]/g))
      await add(name!, home)
  }
  return [...found].toSorted()
}

async function licenceOf(folder: string, place: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const files = await licenceFiles(folder)
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  const title = `${name} ${version}, ${place}: ${license ?? 'no licence named'}`
  return section(title, [contained[name] ?? '', ...texts].join('\n'))
}

/** Also of the libraries whose sources a native package brings. */
async function licenceFiles(folder: string): Promise<string[]> {
  const paths = await readdir(folder, { recursive: true })
  const own = paths.filter((path) => !`/${path}`.includes('/node_modules/'))
  return own
    .filter((path) => isLicence.test(path.split('/').at(-1)!) && !/\.[cm]?[jt]s$/.test(path))
    .toSorted()
}

function section(title: string, text: string): string {
  return `${'-'.repeat(80)}\n${title}\n\n${text.trim()}`
}
