// Well-known images that keep data: where. Others are known only once they are on the host.

const paths: Record<string, string> = {
  ghost: '/var/lib/ghost/content',
  gitea: '/data',
  mariadb: '/var/lib/mysql',
  mongo: '/data/db',
  mysql: '/var/lib/mysql',
  redis: '/data',
  'uptime-kuma': '/app/data',
  valkey: '/data',
}

/** Null for any other image. `image` is a reference, with or without a registry, a tag and a digest. */
export function dataPathOf(image: string): string | null {
  const [named = ''] = image.split('@')
  const [name = '', tag = ''] = (named.split('/').at(-1) ?? '').split(':')
  if (name === 'postgres') {
    // From 18 on, the image keeps each major version in a folder of its own.
    return Number.parseInt(tag, 10) < 18 ? '/var/lib/postgresql/data' : '/var/lib/postgresql'
  }
  return Object.hasOwn(paths, name) ? paths[name]! : null
}
