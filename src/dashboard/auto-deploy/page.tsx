// The automatic deploys of a service: what they do, their settings, its keys, and what providers reported.
import type { Service } from '../../api/service.ts'
import { Code, Command } from '../controls/command.tsx'
import panel from '../service/overview.module.css'
import { ServicePage } from '../service/tabs.tsx'
import styles from './auto-deploys.module.css'
import { Deliveries } from './deliveries.tsx'
import { DeployHookSection } from './deploy-hook.tsx'
import { DeployKeySection } from './deploy-key.tsx'
import { AutoDeployNotice } from './notice.tsx'
import { AutoDeploySettings } from './settings.tsx'
import { ActorLink, AutoDeployState, AutoDeploySwitch } from './state.tsx'
import { canChange } from './words.tsx'

export function AutoDeploysPage() {
  return (
    <ServicePage page="Auto-deploys">{(service) => <Shown key={service.id} service={service} />}</ServicePage>
  )
}

function Shown({ service }: { service: Service }) {
  const { name, repo_url: repository, image } = service
  return (
    <div className="stack">
      <AutoDeployNotice service={service} />
      <section className={panel.panel}>
        <h2>Automatic deploys</h2>
        {repository === null && image === null ? (
          <div>
            <p>This service is deployed from uploads. With a repository, each push to it is deployed:</p>
            <Code text={`berth update ${name} --repo https://github.com/ada/${name}.git`} />
          </div>
        ) : (
          <>
            <AutoDeployState service={service} />
            <div className={styles.actions}>
              <AutoDeploySwitch service={service} />
              <ActorLink service={service} />
            </div>
          </>
        )}
        <Command berth={`berth show ${name}`} request={{ method: 'GET', path: `/services/${name}` }} />
      </section>
      {canChange(service) && <AutoDeploySettings service={service} />}
      {repository !== null && <DeployKeySection service={service} address={repository} />}
      {repository !== null && <Deliveries service={service} />}
      <DeployHookSection service={service} />
    </div>
  )
}
