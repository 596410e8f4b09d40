// One service: what runs now, its recent deploys, and what will happen to it.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Service } from '../../api/service.ts'
import { ApiError } from '../api/client.ts'
import { AutoDeployNotice } from '../auto-deploy/notice.tsx'
import { AutoDeployPanel } from '../auto-deploy/panel.tsx'
import { Command } from '../controls/command.tsx'
import { Page } from '../shell/page.tsx'
import { Pending } from '../shell/pending.tsx'
import { ComingUp } from './coming-up.tsx'
import { Head } from './head.tsx'
import styles from './overview.module.css'
import { serviceQuery } from './queries.ts'
import { RecentDeploys } from './recent-deploys.tsx'
import { RunningNow } from './running-now.tsx'
import { SavedChanges } from './saved-changes.tsx'
import { stateWord, toneFor } from './state.ts'
import { Tabs } from './tabs.tsx'
import { Terminal } from './terminal.tsx'

export function Overview() {
  const { name } = useParams({ from: '/services/$name' })
  const query = useQuery(serviceQuery(name))
  const { data: service, error } = query
  const isGone = error instanceof ApiError && error.problem.status === 404
  if (service && !isGone) return <Shown key={service.id} service={service} />
  return <Pending title={name} of={[query]} />
}

function Shown({ service }: { service: Service }) {
  const { name, state } = service
  return (
    <Page title={`${stateWord(service)} · ${name}`} mark={toneFor(service)}>
      <Head service={service} />
      <Tabs name={name} />
      {state === 'deleting' && (
        <p className={styles.notice}>
          This service is being deleted. It leaves the list when everything is removed.
        </p>
      )}
      {state !== 'deleting' && <AutoDeployNotice service={service} />}
      {state !== 'deleting' && <SavedChanges service={service} />}
      <div className={styles.columns}>
        <div className={styles.column}>
          <RunningNow service={service} />
          <RecentDeploys service={service} />
        </div>
        <div className={styles.column}>
          <AutoDeployPanel service={service} />
          <ComingUp service={service} />
          <Terminal service={service} />
        </div>
      </div>
      <Command berth={`berth status ${name}`} request={{ method: 'GET', path: `/services/${name}/status` }} />
    </Page>
  )
}
