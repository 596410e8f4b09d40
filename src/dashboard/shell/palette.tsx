// Everything by its name: pages, services, and what can be done with a service.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { type ReactNode, useState } from 'react'
import type { Deploy } from '../../api/deploy.ts'
import { send } from '../api/client.ts'
import { Refusal } from '../controls/action.tsx'
import { Modal } from '../controls/dialog.tsx'
import { usePress } from '../controls/press.ts'
import { useFollow } from '../deploy/follow.ts'
import { Mark } from '../look/mark.tsx'
import { servicesQuery } from '../service/queries.ts'
import { canDeploy, stateWord, toneFor } from '../service/state.ts'
import { pageEntries } from './pages.ts'
import styles from './palette.module.css'

export function Palette({ onClose }: { onClose(): void }) {
  const [search, setSearch] = useState('')
  const navigate = useNavigate()
  const { data: services } = useQuery(servicesQuery)
  const open = (name: string) => {
    onClose()
    void navigate({ to: '/services/$name', params: { name } })
  }
  return (
    <Modal label="Search and act" onClose={onClose}>
      <Command className={styles.palette} label="Search and act" loop>
        <Command.Input
          data-first
          placeholder="A page, a service, or deploy …"
          value={search}
          onValueChange={setSearch}
        />
        <Command.List className={styles.list}>
          <Command.Empty className={styles.empty}>No results.</Command.Empty>
          <Group heading="Services">
            {services?.map((service) => (
              <Command.Item key={service.id} value={service.name} onSelect={() => open(service.name)}>
                <Mark tone={toneFor(service)} /> {service.name}
                <span className={styles.note}>{stateWord(service)}</span>
              </Command.Item>
            ))}
          </Group>
          <Group heading="Pages">
            {pageEntries.map(({ to, label, icon: Icon }) => (
              <Command.Item
                key={label}
                value={label}
                onSelect={() => {
                  onClose()
                  void navigate({ to })
                }}
              >
                <Icon size={16} aria-hidden="true" /> {label}
              </Command.Item>
            ))}
          </Group>
          {search !== '' && (
            <Group heading="Actions">
              {services
                ?.filter(canDeploy)
                .flatMap(({ name, live_deploy_id: liveId }) => [
                  <Verb key={`deploy ${name}`} verb="Deploy" path="deploys" name={name} onClose={onClose} />,
                  liveId && (
                    <Verb
                      key={`restart ${name}`}
                      verb="Restart"
                      path="restart"
                      name={name}
                      onClose={onClose}
                    />
                  ),
                ])}
            </Group>
          )}
        </Command.List>
      </Command>
    </Modal>
  )
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group heading={heading} className={styles.group}>
      {children}
    </Command.Group>
  )
}

interface VerbProps {
  verb: string
  path: string
  name: string
  onClose(): void
}

/** It closes when the server has accepted it. */
function Verb({ verb, path, name, onClose }: VerbProps) {
  const follow = useFollow(name)
  const { press, isPending, error } = usePress(
    send<Deploy>(
      'POST',
      `/services/${encodeURIComponent(name)}/${path}`,
      path === 'deploys' ? {} : undefined,
    ),
    (deploy) => {
      onClose()
      follow(deploy)
    },
  )
  return (
    <Command.Item value={`${verb} ${name}`} disabled={isPending} onSelect={press}>
      {verb} {name}
      <span className={styles.note}>{isPending && 'Requesting…'}</span>
      {error && <Refusal error={error} />}
    </Command.Item>
  )
}
