// The licences of Berth, Node and each bundled package, as their authors wrote them. The files move out of
// the packages: /usr/share/doc is where Debian's users look for them.
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { nodeVersion } from './runtime.ts'

const isLicence = /^(licen[cs]e|copying|notice)([.-].*)?$/i

export async function copyright(product: string): Promise<string> {
  const own = await readFile(join(product, 'LICENSE'), 'utf8')
  const node = await readFile(join(product, 'bin/LICENSE'), 'utf8')
  const bundled = await licencesBelow(join(product, 'node_modules'))
  for (const path of ['LICENSE', 'bin/LICENSE']) await rm(join(product, path))
  const texts = [own, section(`Node.js ${nodeVersion}, in /usr/lib/berth/bin`, node)].concat(bundled)
  return `${texts.map((text) => text.trim()).join('\n\n')}\n`
}

async function licencesBelow(modules: string): Promise<string[]> {
  const entries = await readdir(modules, { recursive: true, withFileTypes: true })
  const manifests = entries.filter(({ name, parentPath }) => {
    const inside = `${parentPath}/`.split('/node_modules/').at(-1) ?? ''
    return name === 'package.json' && /^(@[^/]+\/)?[^/]+\/$/.test(inside)
  })
  const folders = manifests.map(({ parentPath }) => parentPath).toSorted()
  return Promise.all(folders.map(licenceOf))
}

async function licenceOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const files = (await readdir(folder)).filter((file) => isLicence.test(file)).toSorted()
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  for (const file of files) await rm(join(folder, file))
  return section(`${name} ${version}: ${license ?? 'no licence named'}`, texts.join('\n'))
}

function section(title: string, text: string): string {
  return `${'-'.repeat(80)}\n${title}\n\n${text.trim()}`
}
