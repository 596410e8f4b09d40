// Where a bucket is, and the key to it.
export interface BucketOptions {
  /** The origin of the service, such as `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: string
  bucket: string
  /** Begins every key; empty, or with a slash at its end. */
  prefix: string
  region: string
  /** Whether the bucket is in the path instead of the host name. */
  pathStyle: boolean
  keyId: string
  secret: string
  /** The longest time without a byte in either direction. */
  silentMs?: number
}
