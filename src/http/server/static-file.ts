// A file whose name changes with its content, in the encodings that browsers accept.
export class StaticFile {
  constructor(
    readonly contentType: string,
    readonly bodies: { plain: Buffer; br: Buffer | null; gzip: Buffer | null },
  ) {}

  /** The smallest body that the `Accept-Encoding` of a request allows. */
  bodyFor(accepted = ''): { encoding: 'br' | 'gzip' | null; body: Buffer } {
    const { plain, br, gzip } = this.bodies
    if (br && /\bbr\b/.test(accepted)) return { encoding: 'br', body: br }
    if (gzip && /\bgzip\b/.test(accepted)) return { encoding: 'gzip', body: gzip }
    return { encoding: null, body: plain }
  }
}
