// The frameworks of JavaScript: how each is found and built, and whether that makes a server or pages.
import { posix } from 'node:path'
import type { Refusal } from '../../recipe.ts'
import type { App } from './app.ts'
import { findBuildCall } from './build-call.ts'
import * as plans from './framework-plans.ts'
import { type FrameworkRow, frameworkTable } from './framework-table.ts'
import { hasPackage } from './manifest.ts'
import { type Plan, publish, serve } from './plan.ts'

export interface Framework {
  name: string
  build: string
  plan: Plan | Refusal
  /** Of variables that end up in pages. */
  prefixes: string[]
  /** Of its build, in the folder of the app. */
  cache: string | null
  /** For the build. */
  env: Record<string, string>
}

interface Rule extends Partial<FrameworkRow> {
  /** Null if the app does not really use it. Without it, all that it builds are pages. */
  plan?: (app: App, row: FrameworkRow & Rule) => Plan | Refusal | null
  /** Its pages find their way by themselves. */
  isSinglePage?: boolean
  prefixes?: string[]
  cache?: string
  env?: (app: App) => Record<string, string>
}

const singlePage: Rule = { isSinglePage: true }
const nitro: Rule = { plan: (app, { name }) => plans.planNitro(app, `${name} builds this server`) }

/** What Vercel's table does not have. The first that fits counts: many others use Vite. */
const rules: Record<string, Rule> = {
  nextjs: { plan: plans.planNext, cache: '.next/cache' },
  nuxtjs: { plan: plans.planNuxt, prefixes: ['NUXT_PUBLIC_'] },
  astro: { plan: plans.planAstro },
  'react-router': {
    name: 'React Router',
    packages: [['@react-router/dev']],
    build: 'react-router build',
    plan: (app) => plans.planRouter(app, 'react-router'),
    prefixes: ['VITE_'],
  },
  remix: { plan: (app) => plans.planRouter(app, 'remix'), prefixes: ['VITE_'] },
  sveltekit: {
    name: 'SvelteKit',
    packages: [['@sveltejs/kit']],
    build: 'vite build',
    plan: plans.planSvelte,
    prefixes: ['PUBLIC_', 'VITE_'],
    // The adapter chooses by what the environment looks like.
    env: (app): Record<string, string> =>
      plans.findSvelteAdapter(app) === 'auto' ? { GCP_BUILDPACKS: 'true' } : {},
  },
  'solidstart-1': nitro,
  'tanstack-start': {
    packages: [['@tanstack/react-start', '@tanstack/solid-start']],
    plan: plans.planTanstack,
    prefixes: ['VITE_'],
  },
  mastra: { plan: () => serve('node .mastra/output/index.mjs', 'Mastra builds this server') },
  nest: {
    name: 'NestJS',
    packages: [['@nestjs/core']],
    build: 'nest build',
    plan: () => serve('node dist/main', 'NestJS builds this file'),
  },
  adonis: {
    name: 'AdonisJS',
    packages: [['@adonisjs/core']],
    build: 'node ace build',
    plan: ({ tree }) =>
      serve(
        tree.has('bin/server.ts') ? 'node build/bin/server.js' : 'node build/server.js',
        'AdonisJS builds this file',
        { replaces: /^node bin\/server\.js$/, env: { HOST: '0.0.0.0' } },
      ),
  },
  angular: { plan: plans.planAngular },
  expo: {
    name: 'Expo',
    packages: [['expo'], ['react-native-web']],
    build: 'expo export --platform web',
    plan: plans.planExpo,
    prefixes: ['EXPO_PUBLIC_'],
  },
  gatsby: {},
  'docusaurus-2': {},
  vitepress: { plan: plans.planPress },
  vuepress: { plan: plans.planPress },
  eleventy: {},
  hexo: {},
  gridsome: {},
  'create-react-app': singlePage,
  vue: singlePage,
  preact: singlePage,
  ember: singlePage,
  svelte: singlePage,
  sanity: singlePage,
  umijs: singlePage,
  stencil: singlePage,
  nitro,
  vite: { plan: plans.planVite },
  'ionic-react': singlePage,
  parcel: singlePage,
  webpack: {
    name: 'webpack',
    packages: [['webpack'], ['webpack-cli']],
    build: 'webpack --mode production',
    plan: plans.planWebpack,
  },
}

export function findFramework(app: App): Framework | null {
  for (const [slug, rule] of Object.entries(rules)) {
    const row: FrameworkRow = { name: slug, packages: [], build: '', ...frameworkTable[slug], ...rule }
    if (!row.packages.every((group) => group.some((name) => hasPackage(app.manifest, name)))) continue
    const plan = (rule.plan ?? planPages)(app, row)
    if (plan === null) continue
    const { name, build, prefix } = row
    const prefixes = [...(prefix ? [prefix] : []), ...(rule.prefixes ?? [])]
    return { name, build, plan, prefixes, cache: rule.cache ?? null, env: rule.env?.(app) ?? {} }
  }
  return null
}

function planPages(
  app: App,
  { name, build, output = 'dist', isSinglePage = false }: FrameworkRow & Rule,
): Plan {
  const call = findBuildCall(app, build)
  const folder = call?.output ?? posix.join(call?.folder ?? '', output)
  const reason = call?.output || call?.folder ? `the build script: ${call.command}` : `${name} builds pages`
  return publish(folder, reason, { fallback: isSinglePage })
}
