// The same thing without this page: the command of `berth`, and the request to the API.
import type { Method } from '../api/client.ts'
import styles from './command.module.css'
import { Copy } from './copy.tsx'
import { toCurl } from './curl.ts'

interface CommandProps {
  /** `berth deploys shop` */
  berth: string
  request: { method: Method; path: string; body?: unknown }
}

export function Command({ berth, request }: CommandProps) {
  return (
    <div className={styles.command}>
      <details>
        <summary>CLI command</summary>
        <Code text={berth} />
      </details>
      <details>
        <summary>API request</summary>
        <Code text={toCurl(location.origin, request)} />
        <p className="quiet">
          BERTH_TOKEN is an API token. <a href="/account">Create one</a>
        </p>
      </details>
    </div>
  )
}

/** A text to copy as it is. */
export function Code({ text }: { text: string }) {
  return (
    <div className={styles.code}>
      <pre>{text}</pre>
      <Copy text={text} />
    </div>
  )
}
