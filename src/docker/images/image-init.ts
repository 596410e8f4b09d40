// Whether an image brings its own init process, such as s6-overlay, which refuses to run unless it is process
// 1. tini and dumb-init would only warn and do the work twice.
import type { ImageInspectInfo } from 'dockerode'

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

/** By the first word of its entrypoint, or of its command if it has no entrypoint. */
export function runsInit({ Config: { Entrypoint: entrypoint, Cmd: command } }: ImageInspectInfo): boolean {
  const [first = ''] = [entrypoint ?? [], command ?? []].flat()
  return inits.includes(first.slice(first.lastIndexOf('/') + 1))
}
