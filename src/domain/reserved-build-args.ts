// Build arguments that users cannot give, with what applies instead. With the first, a build could use the
// cache mounts of another service; the second chooses a frontend that may ignore the first.
export const reservedBuildArgs: ReadonlyMap<string, string> = new Map([
  ['BUILDKIT_CACHE_MOUNT_NS', 'Berth sets it, to another value for each service'],
  ['BUILDKIT_SYNTAX', "a '# syntax=' line in the Dockerfile does the same"],
])
