// Opens a page in the user's browser, if there is a graphical display.
import type { Cli } from '../client/session.ts'

/** Whether the browser was opened, as far as known. */
export async function openInBrowser({ env, out }: Cli, page: string): Promise<boolean> {
  if (!out.isLive || !hasScreen(env)) return false
  const { default: open } = await import('open')
  return open(page).then(
    () => true,
    () => false,
  )
}

// Over ssh, the browser would open on the remote machine.
function hasScreen(env: NodeJS.ProcessEnv): boolean {
  if (env.SSH_CONNECTION || env.SSH_TTY) return false
  return process.platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
}
