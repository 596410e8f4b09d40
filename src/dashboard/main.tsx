// The dashboard: it talks to the HTTP API and to nothing else.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/client.ts'
import { openFeed } from './live/feed.ts'
import './look/base.css'
import { createAppRouter } from './shell/routes.tsx'
import { listenForShortcuts } from './shell/shortcuts.ts'

// After an upgrade of the server, a page that was open does not find its parts any more. While the server is
// away it stays: a reload would lose it.
addEventListener('vite:preloadError', async () => {
  const isThere = await fetch('/healthz').catch(() => null)
  if (!isThere) return
  if (Date.now() - Number(sessionStorage.getItem('reloaded')) < 10_000) return
  sessionStorage.setItem('reloaded', String(Date.now()))
  location.reload()
})

/** The daemon did not answer. What it does say is shown at once. */
const unanswered = new Set(['unreachable', 'unknown'])

// The feed says what changed, so nothing becomes stale by itself.
const client = new QueryClient({
  defaultOptions: {
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: (failures, error) =>
        error instanceof ApiError && unanswered.has(error.problem.code) && failures < 10,
    },
  },
})

const router = createAppRouter(client)
openFeed(client)
listenForShortcuts()
// With its data, unless a part is slow: then the frame comes first.
const patience = new Promise((resolve) => setTimeout(resolve, 1_000))
void Promise.race([router.load().catch(() => undefined), patience]).then(() =>
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  ),
)
