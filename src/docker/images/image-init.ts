// Whether an image brings its own init process, such as s6-overlay, which refuses to run unless it is process
// 1. tini and dumb-init would only warn and do the work twice.
import { type Engine, orNull } from '../engine/client.ts'

const inits = [
  'init',
  'systemd',
  's6-svscan',
  'tini',
  'tini-static',
  'docker-init',
  'dumb-init',
  'catatonit',
  'my_init',
  'runsvdir',
  'runit',
  'runit-init',
]

/**
 * Whether the image starts an init process, by the first word of its entrypoint, or of its command if it has
 * no entrypoint.
 */
export async function runsInit({ call, docker }: Engine, image: string): Promise<boolean> {
  const info = await orNull(call(`inspect the image ${image}`, () => docker.getImage(image).inspect()))
  const { Entrypoint: entrypoint, Cmd: command } = info?.Config ?? {}
  const [first = ''] = [entrypoint ?? [], command ?? []].flat()
  return inits.includes(first.slice(first.lastIndexOf('/') + 1))
}
