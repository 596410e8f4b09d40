// The frameworks as Vercel describes them. `npm run frameworks` writes this file.

export interface FrameworkRow {
  name: string
  /** One of each group must be there. */
  packages: string[][]
  build: string
  /** The folder of its pages. */
  output?: string
  /** Of variables that end up in pages. */
  prefix?: string
}

export const frameworkTable: Record<string, FrameworkRow> = {
  nextjs: { name: 'Next.js', packages: [['next']], build: 'next build', prefix: 'NEXT_PUBLIC_' },
  nuxtjs: {
    name: 'Nuxt',
    packages: [['nuxt', 'nuxt3', 'nuxt-edge', 'nuxt-nightly']],
    build: 'nuxt build',
    output: 'dist',
    prefix: 'NUXT_ENV_',
  },
  astro: { name: 'Astro', packages: [['astro']], build: 'astro build', output: 'dist', prefix: 'PUBLIC_' },
  remix: { name: 'Remix', packages: [['@remix-run/dev']], build: 'remix build', output: 'public' },
  'solidstart-1': {
    name: 'SolidStart (v1)',
    packages: [['solid-js'], ['@solidjs/start']],
    build: 'vinxi build',
    output: '.output',
    prefix: 'VITE_',
  },
  'tanstack-start': {
    name: 'TanStack Start',
    packages: [['@tanstack/router-plugin'], ['@tanstack/react-start', '@tanstack/solid-start']],
    build: 'vite build',
    output: 'dist',
  },
  mastra: { name: 'Mastra', packages: [['mastra']], build: 'mastra build', output: '.mastra' },
  angular: { name: 'Angular', packages: [['@angular/cli']], build: 'ng build', output: 'dist' },
  gatsby: {
    name: 'Gatsby.js',
    packages: [['gatsby']],
    build: 'gatsby build',
    output: 'public',
    prefix: 'GATSBY_',
  },
  'docusaurus-2': {
    name: 'Docusaurus (v2+)',
    packages: [['@docusaurus/core']],
    build: 'docusaurus build',
    output: 'build',
  },
  vitepress: {
    name: 'VitePress',
    packages: [['vitepress']],
    build: 'vitepress build docs',
    output: 'docs/.vitepress/dist',
  },
  vuepress: {
    name: 'VuePress',
    packages: [['vuepress']],
    build: 'vuepress build src',
    output: 'src/.vuepress/dist',
  },
  eleventy: {
    name: 'Eleventy',
    packages: [['@11ty/eleventy']],
    build: 'npx @11ty/eleventy',
    output: '_site',
  },
  hexo: { name: 'Hexo', packages: [['hexo']], build: 'hexo generate', output: 'public' },
  gridsome: { name: 'Gridsome', packages: [['gridsome']], build: 'gridsome build', output: 'dist' },
  'create-react-app': {
    name: 'Create React App',
    packages: [['react-scripts', 'react-dev-utils']],
    build: 'react-scripts build',
    output: 'build',
    prefix: 'REACT_APP_',
  },
  vue: {
    name: 'Vue.js',
    packages: [['@vue/cli-service']],
    build: 'vue-cli-service build',
    output: 'dist',
    prefix: 'VUE_APP_',
  },
  preact: { name: 'Preact', packages: [['preact-cli']], build: 'preact build', output: 'build' },
  ember: {
    name: 'Ember.js',
    packages: [['ember-source', 'ember-cli']],
    build: 'ember build',
    output: 'dist',
  },
  svelte: { name: 'Svelte', packages: [['svelte'], ['sirv-cli']], build: 'rollup -c', output: 'public' },
  sanity: {
    name: 'Sanity',
    packages: [['sanity']],
    build: 'sanity build',
    output: 'dist',
    prefix: 'SANITY_STUDIO_',
  },
  umijs: { name: 'UmiJS', packages: [['umi']], build: 'umi build', output: 'dist' },
  stencil: { name: 'Stencil', packages: [['@stencil/core']], build: 'stencil build', output: 'www' },
  nitro: { name: 'Nitro', packages: [['nitropack', 'nitro']], build: 'nitro build', output: 'dist' },
  vite: { name: 'Vite', packages: [['vite']], build: 'vite build', output: 'dist', prefix: 'VITE_' },
  'ionic-react': {
    name: 'Ionic React',
    packages: [['@ionic/react']],
    build: 'react-scripts build',
    output: 'build',
  },
  parcel: { name: 'Parcel', packages: [['parcel']], build: 'parcel build', output: 'dist' },
}
