// Frameworks that make a server or pages, as their settings say.
import { posix } from 'node:path'
import semver from 'semver'
import { toObject, toText } from '../../json.ts'
import { type Refusal, refuse } from '../../recipe.ts'
import type { Tree } from '../../tree.ts'
import { type App, usesPrisma } from './app.ts'
import { findBuildCall } from './build-call.ts'
import type { FrameworkRow } from './framework-table.ts'
import { findRange, hasPackage } from './manifest.ts'
import { findMigration } from './migrations.ts'
import { type Plan, publish, type Server, serve } from './plan.ts'
import { findDevelopmentServer } from './start.ts'

const everywhere = { HOST: '0.0.0.0' }

export function planNext(app: App): Plan {
  const { tree, folder } = app
  const config = readConfig(tree, 'next')
  const [, output] = /\boutput\s*:\s*['"`](\w+)/.exec(config) ?? []
  const reason = `output: '${output}' in next.config`
  const replaces = /\bnext start\b|standalone\/server\.js/
  if (output === 'export') return publish('out', reason, { replaces })
  if (output !== 'standalone') return serve('next start', 'Next.js serves what it built')
  const place = keepsEverything(app) ? '.next/standalone' : '.'
  const files = {
    [keepsEverything(app) ? '.' : '.next/standalone']: '.',
    '.next/static': posix.join(place, folder, '.next/static'),
    ...(tree.hasFolder('public') && { public: posix.join(place, folder, 'public') }),
  }
  const start = `node ${posix.join(place, folder, 'server.js')}`
  // Docker sets HOSTNAME to the container's ID, and the server listens on what it names.
  return serve(start, reason, { replaces, files, env: { HOSTNAME: '0.0.0.0' } })
}

/** What `next start` needs of the packages for development to read its settings. */
export function findSettingsNeed({ tree, manifest }: App): string | null {
  const range = findRange(manifest, 'next')
  const file = findConfig(tree, 'next')
  if (range === null || file === null) return null
  const development = (name: string) => !(name in manifest.dependencies) && name in manifest.devDependencies
  // From 16.2 on, it reads them by itself. It would install what is missing at each start.
  const isOld =
    semver.validRange(range) === null
      ? !/^(latest|canary|next)$/.test(range)
      : semver.intersects(range, '<16.2.0', { includePrerelease: true })
  if (/ts$/.test(file) && isOld && !('typescript' in manifest.dependencies))
    return `Next.js before 16.2 reads ${file} with typescript when it starts`
  const imports =
    /^(?!import type\b).*(?:\bfrom|\brequire\(|\bimport\(|^import)\s?['"]((?:@[\w.-]+\/)?[\w.-]+)/gm
  const names = [...readConfig(tree, 'next').matchAll(imports)].map(([, name = '']) => name)
  const needed = names.find(development)
  return needed ? `${file} imports ${needed}, and Next.js reads it when it starts` : null
}

export function planNitro(app: App, reason: string): Server {
  return serve('node .output/server/index.mjs', reason, {
    replaces: /\bnuxt start\b|\.output\/server/,
    files: keepsEverything(app) ? null : { '.output': '.output' },
    env: everywhere,
  })
}

export function planNuxt(app: App): Plan {
  const { manifest } = app
  const range = findRange(manifest, 'nuxt') ?? ''
  const isOld = semver.validRange(range) !== null && !semver.intersects(range, '>=3')
  if (/\bgenerate\b/.test(manifest.scripts.build ?? ''))
    return publish(isOld ? 'dist' : '.output/public', 'the build script generates pages')
  return isOld
    ? serve('nuxt start', 'Nuxt serves what it built', { env: everywhere })
    : planNitro(app, 'Nuxt builds this server')
}

export function planAstro({ tree }: App): Plan | Refusal {
  const config = readConfig(tree, 'astro')
  if (!/\badapter\b/.test(config)) return publish('dist', 'Astro without an adapter makes pages')
  if (!config.includes('@astrojs/node'))
    return refuse('the adapter in astro.config is for another platform: @astrojs/node makes a server')
  return serve('node dist/server/entry.mjs', '@astrojs/node in astro.config', { env: everywhere })
}

export function planRouter({ tree, manifest }: App, name: 'react-router' | 'remix'): Plan | null {
  const config = `${readConfig(tree, name)}\n${name === 'remix' ? readConfig(tree, 'vite') : ''}`
  if (/\bssr\s*:\s*false/.test(config))
    return publish('build/client', 'ssr: false in its settings', { fallback: true, replaces: /-serve\b/ })
  const isPackaged = hasPackage(manifest, name === 'remix' ? '@remix-run/serve' : '@react-router/serve')
  const isVite = name === 'react-router' || readConfig(tree, 'vite') !== ''
  const built = isVite ? './build/server/index.js' : './build/index.js'
  return isPackaged ? serve(`${name}-serve ${built}`, `${name}-serve is installed`) : null
}

const svelteAdapters = ['node', 'static', 'bun', 'auto'] as const

/** Those of other platforms are undefined. */
export function findSvelteAdapter({ tree, manifest }: App): (typeof svelteAdapters)[number] | undefined {
  const config = `${readConfig(tree, 'svelte')}\n${readConfig(tree, 'vite')}`
  const [, imported] = /adapter-(\w+)/.exec(config) ?? []
  if (imported) return svelteAdapters.find((name) => name === imported)
  return svelteAdapters.find((name) => hasPackage(manifest, `@sveltejs/adapter-${name}`))
}

export function planSvelte(app: App): Plan | Refusal {
  const config = `${readConfig(app.tree, 'svelte')}\n${readConfig(app.tree, 'vite')}`
  switch (findSvelteAdapter(app)) {
    case 'node':
      return serve('node build', '@sveltejs/adapter-node', { env: everywhere })
    case 'bun':
      return serve('bun build/index.js', 'svelte-adapter-bun', { env: everywhere })
    case 'auto':
      return serve('node build', 'adapter-auto makes a server, because the build pretends to be on Cloud Run')
    case 'static':
      return publish('build', '@sveltejs/adapter-static', { fallback: /\bfallback\s*:/.test(config) })
    default:
      return refuse('the adapter of SvelteKit is for another platform: @sveltejs/adapter-node makes a server')
  }
}

export function planTanstack(app: App): Plan {
  const { tree, manifest } = app
  const hasNitro = ['nitro', 'nitropack', 'vinxi'].some((name) => hasPackage(manifest, name))
  if (hasNitro || /nitro/.test(readConfig(tree, 'vite')))
    return planNitro(app, 'TanStack Start builds it with Nitro')
  return serve(
    'srvx --prod --static ../client dist/server/server.js',
    'TanStack Start builds a handler without a server',
    { env: everywhere, tools: ['srvx@0'] },
  )
}

export function planAngular({ tree }: App): Plan {
  const projects = Object.entries(toObject(tree.json('angular.json').projects))
  const [name = '', found] = projects.find(([, project]) => toObject(project).projectType !== 'library') ?? []
  const { architect, targets } = toObject(found)
  const build = toObject(toObject(architect ?? targets).build)
  const { outputPath, ssr, outputMode } = toObject(build.options)
  const base = toText(outputPath) ?? toText(toObject(outputPath).base) ?? `dist/${name}`
  if (ssr && outputMode !== 'static') return serve(`node ${base}/server/server.mjs`, 'ssr in angular.json')
  const browser = toText(toObject(outputPath).browser) ?? 'browser'
  const hasBrowser = /:application$/.test(toText(build.builder) ?? '')
  return publish(hasBrowser ? posix.join(base, browser) : base, 'outputPath in angular.json', {
    fallback: true,
  })
}

export function planExpo({ tree }: App): Plan {
  const isStatic = /"output"\s*:\s*"static"/.test(tree.text('app.json'))
  return publish('dist', 'Expo exports it for the web', { fallback: !isStatic })
}

/** VitePress and VuePress have a hidden folder where the pages are. */
export function planPress(app: App, { output = '', build }: FrameworkRow): Plan {
  const hidden = posix.basename(posix.dirname(output))
  const call = findBuildCall(app, build)
  if (call?.output) return publish(call.output, `the build script: ${call.command}`)
  const [place] = app.tree.find(new RegExp(`(^|/)\\${hidden}/`))
  const folder = call?.folder ?? (place ? place.slice(0, place.indexOf(hidden)) : '')
  const reason = call?.folder ? `the build script: ${call.command}` : `the place of ${hidden}`
  return publish(posix.join(folder, hidden, 'dist'), reason)
}

export function planVite(app: App): Plan | Refusal {
  const call = findBuildCall(app, 'vite')
  const { tree } = app
  const config = readConfig(call?.folder ? tree.in(call.folder) : tree, 'vite')
  const [, set = ''] = /\broot\s*:\s*['"`]\.?\/?([\w./-]+)/.exec(config) ?? []
  const root = posix.join(call?.folder ?? '', set)
  const page = posix.join(root, 'index.html')
  if (!tree.has(page)) return refuse(`Vite is a dependency, but there is no ${page} and no start script`)
  const [, outDir = 'dist'] = /\boutDir\s*:\s*['"`]([\w./-]+)/.exec(config) ?? []
  return publish(call?.output ?? posix.join(root, outDir), 'Vite builds pages', { fallback: true })
}

/** Null unless it makes an app for a browser, for which something must make or copy its page. */
export function planWebpack(app: App): Plan | Refusal | null {
  const config = readConfig(app.tree, 'webpack')
  const start = app.manifest.scripts.start ?? ''
  if (/\btarget\s*:\s*['"`]?(node|async-node|electron)/.test(config)) return null
  if (findDevelopmentServer(app.manifest, start) === null) return null
  const [, named = 'dist'] = /\bpath\s*:[^\n]{0,80}?['"`]\.?\/?([\w-][\w./-]*)['"`]\s*\)?/.exec(config) ?? []
  const folder = findBuildCall(app, 'webpack')?.output ?? named
  if (/HtmlWebpackPlugin|html-webpack-plugin|CopyWebpackPlugin|CopyPlugin/.test(config))
    return publish(folder, 'webpack builds pages, and the start script is for development', {
      fallback: true,
    })
  if (app.tree.has(posix.join(folder, 'index.html'))) return publish(folder, `webpack builds into ${folder}`)
  return refuse(
    'webpack bundles programs for a browser, but nothing is seen to make their index.html: ' +
      'publish_dir must name its folder',
  )
}

/** Migrations run with tools, and Prisma by programs, that are not in what a framework builds. */
function keepsEverything(app: App): boolean {
  return usesPrisma(app) || findMigration(app) !== null
}

/** Without comments. */
function readConfig(tree: Tree, name: string): string {
  const path = findConfig(tree, name)
  const text = path ? tree.text(path) : ''
  return text.replace(/("[^"\n]*"|'[^'\n]*')|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, '$1')
}

function findConfig(tree: Tree, name: string): string | null {
  const extensions = ['js', 'mjs', 'cjs', 'ts', 'mts']
  return tree.first(...extensions.map((extension) => `${name}.config.${extension}`))
}
