// Makes the table of JavaScript frameworks from the one that Vercel maintains.
import { type FrameworkDetectionItem, frameworkList } from '@vercel/frameworks'
import type { FrameworkRow } from '../../../src/recipes/languages/node/framework-table.ts'

/** Those for which recipes have a rule, in the order in which they are looked for: many others use Vite. */
const slugs = `nextjs nuxtjs astro remix solidstart-1 tanstack-start mastra angular
  gatsby docusaurus-2 vitepress vuepress eleventy hexo gridsome
  create-react-app vue preact ember svelte sanity umijs stencil nitro vite ionic-react parcel`.split(/\s+/)

export function frameworkRows(): Record<string, FrameworkRow> {
  return Object.fromEntries(slugs.map((slug) => [slug, toRow(slug)]))
}

function toRow(slug: string): FrameworkRow {
  const framework = frameworkList.find((one) => one.slug === slug)
  if (!framework) throw new Error(`Vercel's table has no ${slug}`)
  const { name, detectors, settings, envPrefix } = framework
  const output = readSetting(settings.outputDirectory)
  return {
    name,
    packages: [
      ...packages(detectors?.every).map((one) => [one]),
      ...[packages(detectors?.some)].filter((some) => some.length > 0),
    ],
    build: readSetting(settings.buildCommand) ?? '',
    ...(output && { output }),
    ...(envPrefix && { prefix: envPrefix }),
  }
}

function readSetting(setting: object): string | null {
  return 'value' in setting && typeof setting.value === 'string' ? setting.value : null
}

function packages(items: FrameworkDetectionItem[] = []): string[] {
  return items.flatMap(({ matchPackage }) => matchPackage ?? [])
}
