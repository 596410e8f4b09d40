// Builds the dashboard into dist/dashboard, which the daemon serves.
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const home = fileURLToPath(new URL('.', import.meta.url))
const server = process.env.BERTH_SERVER ?? 'http://127.0.0.1:7878'
const daemonPaths = [
  '/api',
  '/login',
  '/setup',
  '/cli-login',
  '/account',
  '/git',
  '/docs',
  '/berth.css',
  '/berth.svg',
]

/** Text is drawn once, in its typeface, if that is there in time. */
const preloadFont: Plugin = {
  name: 'preload-font',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle = {} }) {
      const font = Object.keys(bundle).find((name) => /-latin-wght-normal-[^/]*\.woff2$/.test(name))
      const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${font}`, crossorigin: true }
      return font ? [{ tag: 'link', attrs, injectTo: 'head' }] : []
    },
  },
}

/** What every page uses, in one request. The virtual list belongs to the log. */
const base = [
  /node_modules\/(react|react-dom|scheduler|@tanstack\/(?!react-virtual|virtual))/,
  /src\/dashboard\/((look|controls|live|api)\/|shell\/(shortcuts|page|problem|tab|sign-in)\.)/,
]

// biome-ignore lint/style/noDefaultExport: Vite loads its configuration by the default export.
export default defineConfig({
  root: home,
  base: '/',
  plugins: [react(), preloadFont],
  build: {
    outDir: '../../dist/dashboard',
    emptyOutDir: true,
    manifest: true,
    cssCodeSplit: false,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // The browser compiles a file while it arrives, in another thread, and not at each first call.
        postBanner: '//# allFunctionsCalledOnLoad',
        codeSplitting: {
          groups: [{ name: 'base', test: (id) => base.some((part) => part.test(id)) }],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(daemonPaths.map((path) => [path, { target: server, changeOrigin: true }])),
  },
})
