// Why keys of Compose files have no counterpart in a blueprint.

const hostRights = 'an instance has no rights on the host'
const ofImage = 'the image decides it: change its Dockerfile'
const writtenOut = 'write the file out first: docker compose config'

/** Keys of a service, by path, and of the file. */
const reasons: Record<string, string> = {
  cap_add: hostRights,
  cap_drop: 'not needed: Berth drops capabilities itself',
  configs: 'put the file into the image, or its text into a variable',
  container_name: 'not needed: others reach the service by its name',
  devices: hostRights,
  extends: writtenOut,
  healthcheck: 'Berth has its own times for checks',
  include: writtenOut,
  labels: 'Berth routes by `domains`, and reads no labels',
  logging: 'not needed: berth logs keeps the output',
  name: 'not needed: a server has one project',
  network_mode: 'each service is in a private network of the server',
  networks: 'not needed: a service may connect to what its variables refer to',
  platform: 'the platform is that of the server',
  privileged: hostRights,
  pull_policy: 'not needed: a tag is resolved at each deploy',
  secrets: 'a secret is a variable: name it in `secrets`, and read it from the environment',
  stop_grace_period: 'set drain_seconds',
  user: ofImage,
  version: 'not needed',
  volumes: 'not needed: a disk belongs to its service',
  working_dir: ofImage,
}

/** Keys of a service that becomes a datastore. */
const datastoreReasons: Record<string, string> = {
  command: 'a datastore has settings of its own; Postgres: berth db psql NAME -c "alter system set …"',
  configs: 'a datastore sees no files of the host: berth db psql NAME < FILE.sql runs SQL',
  ports: 'on the host it has a port of its own: berth db url NAME',
}

export function reasonFor(path: string, isDatastore = false): string {
  const known = new Map(Object.entries(isDatastore ? datastoreReasons : reasons))
  if (isDatastore) return known.get(path) ?? 'not needed: Berth runs the datastore'
  return known.get(path.split('.')[0]!) ?? 'Berth has no such setting'
}
