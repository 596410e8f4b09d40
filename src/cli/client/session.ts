// The session of a command: a client of the chosen server, the output, the signal of Ctrl-C.

import { readConfig } from '../config/config.ts'
import { findProject } from '../config/project.ts'
import { chooseServer, type ServerChoice, type ServerFlags } from '../config/server-choice.ts'
import type { Invocation } from '../invocation.ts'
import { type Output, openOutput } from '../terminal/output.ts'
import { type Client, createClient } from './client.ts'

export interface GlobalFlags extends ServerFlags {
  json?: boolean
}

export interface Cli extends Invocation {
  /** The client of the chosen server. The first use chooses it, and throws (usage) if its name is unknown. */
  readonly client: Client
  readonly out: Output
  /** The name of the chosen server, or its address if it has no name. */
  readonly serverName: string
  readonly server: ServerChoice
  readonly flags: GlobalFlags
}

// The server is chosen on first use: `berth login` must work without a known server.
export function openSession(invocation: Invocation, flags: GlobalFlags): Cli {
  const { env, signal } = invocation
  let choice: ServerChoice | null = null
  let client: Client | null = null
  const server = () => {
    choice ??= chooseServer({
      ...invocation,
      flags,
      findProject: () => findProject(invocation.cwd),
      config: readConfig(env),
    })
    return choice
  }
  return {
    ...invocation,
    out: openOutput({ ...invocation, isJson: flags.json === true }),
    flags,
    get client() {
      client ??= createClient({ ...server(), signal })
      return client
    },
    get serverName() {
      return server().name
    },
    get server() {
      return server()
    },
  }
}
