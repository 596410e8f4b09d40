// An app whose image contains one program and nothing else, so no shell can run a command.
import { dockerfile } from './service.ts'

/** Waits for SIGTERM. */
export async function noShellApp(): Promise<Record<string, string>> {
  const [from, ...lines] = (
    await dockerfile(
      'RUN mkdir -p /out/bin && cp /usr/bin/busybox /out/bin/sleep',
      'FROM scratch',
      'COPY --from=tools /out /',
      'ENTRYPOINT ["/bin/sleep", "100000"]',
    )
  ).split('\n')
  return { Dockerfile: [`${from} AS tools`, ...lines].join('\n') }
}
