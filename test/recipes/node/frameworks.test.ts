// The frameworks of JavaScript: servers or pages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frameworkTable } from '../../../src/recipes/languages/node/framework-table.ts'
import { frameworkRows } from '../../support/recipes/framework-rows.ts'
import { choicesOf, instructionsOf, recipeOf, refusalOf } from '../../support/recipes/recipe-of.ts'

type Files = Record<string, string | object>

test('the table of frameworks is the one that Vercel has: npm run frameworks', () => {
  assert.deepEqual(frameworkTable, frameworkRows())
})

const needs = (...names: string[]) => ({ dependencies: Object.fromEntries(names.map((name) => [name, '*'])) })
const starts = (start: string, manifest: object) => ({ ...manifest, scripts: { build: 'make', start } })

const servers: { what: string; files: Files; start: string }[] = [
  { what: 'Next.js', files: { 'package.json': needs('next') }, start: 'next start' },
  {
    what: 'a standalone server of Next.js, whatever its start script says',
    files: {
      'package.json': starts('next start', needs('next')),
      'next.config.mjs': "// output: 'export'\nexport default { output: 'standalone' }",
    },
    start: 'node server.js',
  },
  {
    what: 'Nuxt 3 with the start script of Nuxt 2',
    files: { 'package.json': starts('nuxt start', { dependencies: { nuxt: '^3.0.0' } }) },
    start: 'node .output/server/index.mjs',
  },
  { what: 'Nuxt 2', files: { 'package.json': { dependencies: { nuxt: '^2.15.0' } } }, start: 'nuxt start' },
  {
    what: 'Astro with the adapter for Node.js',
    files: {
      'package.json': starts('astro dev', needs('astro', '@astrojs/node')),
      'astro.config.mjs': "import node from '@astrojs/node'\nexport default { adapter: node() }",
    },
    start: 'node dist/server/entry.mjs',
  },
  {
    what: 'SvelteKit with the adapter for Node.js',
    files: {
      'package.json': needs('@sveltejs/kit', 'vite'),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-node'",
    },
    start: 'node build',
  },
  {
    what: 'SvelteKit without a chosen adapter',
    files: { 'package.json': needs('@sveltejs/kit', '@sveltejs/adapter-auto') },
    start: 'node build',
  },
  {
    what: 'React Router',
    files: { 'package.json': needs('@react-router/dev', '@react-router/serve', 'vite') },
    start: 'react-router-serve ./build/server/index.js',
  },
  {
    what: 'Remix without Vite',
    files: { 'package.json': needs('@remix-run/dev', '@remix-run/serve') },
    start: 'remix-serve ./build/index.js',
  },
  {
    what: 'TanStack Start',
    files: { 'package.json': needs('@tanstack/react-start', 'vite') },
    start: 'srvx --prod --static ../client dist/server/server.js',
  },
  {
    what: 'TanStack Start with Nitro',
    files: { 'package.json': needs('@tanstack/react-start', 'vite', 'nitro') },
    start: 'node .output/server/index.mjs',
  },
  {
    what: 'NestJS',
    files: { 'package.json': starts('nest start', needs('@nestjs/core')) },
    start: 'node dist/main',
  },
  {
    what: 'AdonisJS, whose start script is for the folder that it builds',
    files: { 'package.json': starts('node bin/server.js', needs('@adonisjs/core')), 'bin/server.ts': '' },
    start: 'node build/bin/server.js',
  },
  {
    what: 'Angular with a server',
    files: {
      'package.json': needs('@angular/cli'),
      'angular.json': angular({ ssr: { entry: 'src/server.ts' }, outputPath: 'dist/shop' }),
    },
    start: 'node dist/shop/server/server.mjs',
  },
]

for (const { what, files, start } of servers) {
  test(`${what} starts with ${start}`, () => {
    assert.equal(
      instructionsOf({ files }).at(-1),
      `CMD ${JSON.stringify(start.split(' ')).replaceAll('","', '", "')}`,
    )
  })
}

const sites: { what: string; files: Files; folder: string; fallback: boolean }[] = [
  {
    what: 'Vite',
    files: { 'package.json': needs('vite'), 'index.html': '' },
    folder: 'dist',
    fallback: true,
  },
  {
    what: 'Vite with other folders',
    files: {
      'package.json': starts('vite preview', needs('vite')),
      'vite.config.ts': "export default { root: './web', build: { outDir: '../public' } }",
      'web/index.html': '',
    },
    folder: 'public',
    fallback: true,
  },
  {
    what: 'Create React App',
    files: { 'package.json': starts('react-scripts start', needs('react-scripts')) },
    folder: 'build',
    fallback: true,
  },
  {
    what: 'Next.js as an export',
    files: {
      'package.json': starts('next start', needs('next')),
      'next.config.ts': 'export default { output: "export" }',
    },
    folder: 'out',
    fallback: false,
  },
  {
    what: 'Nuxt that generates',
    files: { 'package.json': { ...needs('nuxt'), scripts: { build: 'nuxt generate' } } },
    folder: '.output/public',
    fallback: false,
  },
  {
    what: 'Astro',
    files: { 'package.json': starts('astro dev', needs('astro')) },
    folder: 'dist',
    fallback: false,
  },
  {
    what: 'React Router without a server',
    files: {
      'package.json': starts('react-router-serve build/server/index.js', needs('@react-router/dev')),
      'react-router.config.ts': 'export default { ssr: false }',
    },
    folder: 'build/client',
    fallback: true,
  },
  {
    what: 'SvelteKit with the static adapter',
    files: {
      'package.json': needs('@sveltejs/kit'),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-static'\nadapter({ fallback: '200.html' })",
    },
    folder: 'build',
    fallback: true,
  },
  {
    what: 'Angular',
    files: {
      'package.json': starts('ng serve', needs('@angular/cli')),
      'angular.json': angular({ outputPath: { base: 'out' } }),
    },
    folder: 'out/browser',
    fallback: true,
  },
  {
    what: 'Gatsby',
    files: { 'package.json': starts('gatsby develop', needs('gatsby')) },
    folder: 'public',
    fallback: false,
  },
  {
    what: 'Docusaurus',
    files: { 'package.json': starts('docusaurus start', needs('@docusaurus/core')) },
    folder: 'build',
    fallback: false,
  },
  {
    what: 'VitePress',
    files: { 'package.json': needs('vitepress', 'vite'), 'site/.vitepress/config.ts': '' },
    folder: 'site/.vitepress/dist',
    fallback: false,
  },
  {
    what: 'Expo for the web',
    files: { 'package.json': starts('expo start', needs('expo', 'react-native-web')) },
    folder: 'dist',
    fallback: true,
  },
]

for (const { what, files, folder, fallback } of sites) {
  test(`${what} makes pages in ${folder}`, () => {
    const recipe = recipeOf({ files })
    assert.deepEqual(recipe.site, { folder: '/site', fallback })
    assert.equal(recipe.port, null)
    assert.deepEqual(instructionsOf({ files }).slice(-2), [
      'FROM scratch AS site',
      `COPY --from=build /app/${folder} /site`,
    ])
  })
}

test('a start script for production wins over the pages of its framework', () => {
  const files = { 'package.json': starts('node server.js', needs('vite')), 'index.html': '' }
  assert.equal(instructionsOf({ files }).at(-1), 'CMD ["npm", "start"]')
})

test('without a build script, the framework builds', () => {
  const files = { 'package.json': needs('vite'), 'index.html': '' }
  assert.ok(instructionsOf({ files }).includes('RUN npx vite build'))
  assert.ok(choicesOf({ files }).includes('npx vite build: Vite is a dependency'))
})

test('the folder that a service publishes is a site, whatever builds it', () => {
  const files = { 'package.json': starts('node server.js', {}) }
  const settings = { type: 'static_site', publish_dir: 'pages' } as const
  assert.equal(instructionsOf({ files, settings }).at(-1), 'COPY --from=build /app/pages /site')
})

test('a static site needs pages', () => {
  const files = { 'package.json': needs('next') }
  const { problem } = refusalOf({ files, settings: { type: 'static_site' } })
  assert.equal(problem, 'Next.js builds a server here, and publish_dir names no folder of pages')
})

test('an adapter for another platform is refused', () => {
  const files = {
    'package.json': needs('astro', '@astrojs/vercel'),
    'astro.config.mjs': "import vercel from '@astrojs/vercel'\nexport default { adapter: vercel() }",
  }
  assert.match(refusalOf({ files }).problem, /for another platform: @astrojs\/node/)
})

test('the build sees variables that end up in public pages, and no others', () => {
  const files = { 'package.json': needs('vite'), 'index.html': '' }
  const settings = { env: ['VITE_API_URL', 'DATABASE_URL', 'NEXT_PUBLIC_X'] }
  assert.ok(instructionsOf({ files, settings }).includes('ARG VITE_API_URL'))
  const names = recipeOf({ files, settings }).stages.flatMap(({ steps }) =>
    steps.flatMap((step) => (step.do === 'arg' ? step.names : [])),
  )
  assert.deepEqual(names, ['VITE_API_URL'])
})

test('what a framework builds runs alone, unless migrations need more', () => {
  const nuxt = { dependencies: { nuxt: '3' } }
  const copies = (files: Files) => instructionsOf({ files }).filter((line) => line.startsWith('COPY --from'))
  assert.deepEqual(copies({ 'package.json': nuxt }), [
    'COPY --from=build --chown=1000:1000 /app/.output /app/.output',
  ])
  const drizzle = { dependencies: { ...nuxt.dependencies, 'drizzle-kit': '1' } }
  assert.deepEqual(copies({ 'package.json': drizzle, 'drizzle/meta/_journal.json': '' }), [
    'COPY --from=build --chown=1000:1000 /app /app',
  ])
})

function angular(options: object): object {
  const build = { builder: '@angular/build:application', options }
  return {
    projects: { lib: { projectType: 'library' }, shop: { projectType: 'application', architect: { build } } },
  }
}

test('the folder of the pages is what the build script says', () => {
  const pages = (packages: object, scripts: object, files: object = {}) =>
    choicesOf({ files: { 'package.json': { scripts, devDependencies: packages }, ...files } }).at(-1)
  const press = { vitepress: '1' }
  assert.match(
    pages(press, { 'docs:build': 'vitepress build docs' }, { 'docs/index.md': '' }) ?? '',
    /^the pages in docs\/\.vitepress\/dist are served: the build script: vitepress build docs$/,
  )
  const cases: [packages: object, script: string, folder: string, files?: object][] = [
    [press, 'vitepress build', '.vitepress/dist'],
    [press, 'cd site && vitepress build docs --outDir ../out', 'out'],
    [{ vuepress: '2' }, 'vuepress build manual', 'manual/.vuepress/dist'],
    [{ vuepress: '2' }, 'vuepress build manual -d public', 'public'],
    [{ '@docusaurus/core': '3' }, 'docusaurus build website', 'website/build'],
    [{ '@11ty/eleventy': '3' }, 'npx @11ty/eleventy --output=public', 'public'],
    [{ parcel: '2' }, 'parcel build src/index.html --dist-dir out', 'out'],
    [{ vite: '6' }, 'tsc && vite build web', 'web/dist', { 'web/index.html': '' }],
    [{ vite: '6' }, 'vite build web --outDir ../out', 'out', { 'web/index.html': '' }],
  ]
  for (const [packages, build, folder, files] of cases)
    assert.match(
      pages(packages, { build }, files) ?? '',
      new RegExp(`^the pages in ${folder} are served`),
      build,
    )
})

test('webpack alone makes pages, and what it bundles is never started by Node.js', () => {
  const manifest = {
    scripts: { build: 'webpack', start: 'webpack serve' },
    devDependencies: { webpack: '5', 'webpack-cli': '6' },
  }
  const config =
    "module.exports = { output: { path: path.resolve(__dirname, 'web') }, plugins: [new HtmlWebpackPlugin] }"
  const source = { 'package.json': manifest, 'src/index.js': 'document.body.append(1)' }
  assert.equal(
    choicesOf({ files: { ...source, 'webpack.config.js': config } }).at(-1),
    'the pages in web are served: webpack builds pages, and the start script is for development',
  )
  assert.match(refusalOf({ files: source }).problem, /^webpack bundles programs for a browser/)
  const rollup = { scripts: { build: 'rollup -c' }, devDependencies: { rollup: '4' } }
  assert.match(refusalOf({ files: { ...source, 'package.json': rollup } }).problem, /no start script/)
})
