// The deploy key of a service: what to enter at the git server, and which of its keys are pinned.
import { useQuery } from '@tanstack/react-query'
import type { DeployKey } from '../../api/deploy-key.ts'
import type { Service } from '../../api/service.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Code, Command } from '../controls/command.tsx'
import { Age } from '../look/times.tsx'
import { Read } from '../server/read.tsx'
import { Removal } from '../server/removal.tsx'
import panel from '../service/overview.module.css'
import styles from './auto-deploys.module.css'
import { deployKeyQuery } from './queries.ts'
import { isSsh, placeOf } from './repository.ts'

interface DeployKeyProps {
  service: Service
  /** Of its repository. */
  address: string
}

export function DeployKeySection(props: DeployKeyProps) {
  return (
    <section id="deploy-key" className={panel.panel}>
      <h2>Deploy key</h2>
      {props.service.has_deploy_key ? <Known {...props} /> : <None {...props} />}
    </section>
  )
}

const pathOf = ({ id }: Service) => `/services/${id}/deploy-key`

function None({ service, address }: DeployKeyProps) {
  const path = pathOf(service)
  return (
    <>
      <p>
        With an ssh key of its own, this service reads a private repository without an account.{' '}
        <span className="quiet">The private half stays on this server and is never shown.</span>
      </p>
      {!isSsh(address) && (
        <p className="quiet">
          It is used for ssh addresses only, so the address of the repository has to become one.
        </p>
      )}
      <Action run={send<DeployKey>('POST', path)}>Create deploy key</Action>
      <Command berth={`berth deploy-key ${service.name}`} request={{ method: 'POST', path }} />
    </>
  )
}

function Known(props: DeployKeyProps) {
  const query = useQuery(deployKeyQuery(props.service))
  const path = pathOf(props.service)
  return (
    <>
      <Read of={query}>{(key) => <Shown {...props} deployKey={key} />}</Read>
      <Command berth={`berth deploy-key ${props.service.name}`} request={{ method: 'GET', path }} />
    </>
  )
}

function Shown({ service, address, deployKey }: DeployKeyProps & { deployKey: DeployKey }) {
  const { public_key: publicKey, fingerprint, created_at: at, hosts } = deployKey
  const { name } = service
  const subject = `the deploy key of ${name}`
  const berth = `berth deploy-key ${name}`
  const path = pathOf(service)
  return (
    <>
      <p>Enter the public half at the repository, for reading only:</p>
      <Providers address={address} />
      <Code text={publicKey} />
      <p className="quiet">
        <code>{fingerprint}</code> · created <Age at={at} />
      </p>
      {!isSsh(address) && <NewAddress name={name} address={address} />}
      <div className={styles.actions}>
        <Removal
          label="Replace"
          name={subject}
          path={path}
          method="POST"
          body={{ rotate: true }}
          berth={`${berth} --rotate`}
        >
          The present key stops working at once: enter the new one at the repository before the next deploy.
          Pinned host keys stay.
        </Removal>
        <Removal label="Delete" name={subject} path={path} berth={`${berth} --rm`}>
          Without it, the repository is read with a git account, or with the ssh keys of the user that runs
          berthd. Pinned host keys are forgotten. What you entered at the repository stays there.
        </Removal>
      </div>
      <Hosts name={name} path={`${path}/hosts`} hosts={hosts} />
    </>
  )
}

/** Where deploy keys are entered, the page of that below the one of a repository, and what to leave off. */
const providers = {
  GitHub: {
    steps: 'Settings, Deploy keys, Add deploy key',
    page: 'settings/keys/new',
    off: '“Allow write access”',
  },
  GitLab: {
    steps: 'Settings, Repository, Deploy keys',
    page: '-/settings/repository',
    off: 'write permissions',
  },
  'Gitea, Forgejo': {
    steps: 'Settings, Deploy keys',
    page: 'settings/keys',
    off: '“Enable Write Access”',
  },
}

const providersByHost: Record<string, keyof typeof providers> = {
  'github.com': 'GitHub',
  'gitlab.com': 'GitLab',
  'codeberg.org': 'Gitea, Forgejo',
  'gitea.com': 'Gitea, Forgejo',
}

function Providers({ address }: { address: string }) {
  const place = placeOf(address)
  const known = place && providersByHost[place.host]
  if (known) {
    const { steps, page, off } = providers[known]
    const at = `${place.host}/${place.path}`
    return (
      <p>
        {at}:{' '}
        <a href={`https://${at}/${page}`} target="_blank" rel="noreferrer">
          {steps} ↗
        </a>{' '}
        <span className="quiet">Leave {off} off.</span>
      </p>
    )
  }
  return (
    <ul className={styles.providers}>
      {Object.entries(providers).map(([name, { steps, off }]) => (
        <li key={name}>
          {name}: {steps}. <span className="quiet">Leave {off} off.</span>
        </li>
      ))}
    </ul>
  )
}

function NewAddress({ name, address }: { name: string; address: string }) {
  const place = placeOf(address)
  const path = place ? `${place.host}:${place.path}` : 'HOST:OWNER/NAME'
  return (
    <div>
      <p>
        The key is used for ssh addresses, and this service reads {address}. Change that once the key is
        entered:
      </p>
      <Code text={`berth update ${name} --repo git@${path}.git`} />
    </div>
  )
}

interface HostsProps {
  name: string
  path: string
  hosts: DeployKey['hosts']
}

function Hosts({ name, path, hosts }: HostsProps) {
  return (
    <div className={styles.hosts}>
      <h3>Pinned host keys</h3>
      {hosts.length === 0 ? (
        <p className="quiet">None yet. The key of the git server is pinned the first time this key works.</p>
      ) : (
        <>
          <p className="quiet">
            A git server with another key is refused. Compare these with what the provider publishes.
          </p>
          <ul className={panel.list}>
            {hosts.map(({ host, type, fingerprint, pinned_at: at }) => (
              <li key={`${host} ${type}`}>
                {host}{' '}
                <span className="quiet">
                  {type} · pinned <Age at={at} />
                </span>
                <br />
                <code>{fingerprint}</code>
              </li>
            ))}
          </ul>
          <Removal
            label="Forget"
            name={`the host keys of ${name}`}
            path={path}
            berth={`berth deploy-key ${name} --forget-host`}
          >
            The next key of the git server is accepted without a question, and pinned. Do this only if the
            server really has a new one.
          </Removal>
        </>
      )}
    </div>
  )
}
