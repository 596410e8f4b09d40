// Automatic deploys on the overview of a service.
import { Link } from '@tanstack/react-router'
import type { Service } from '../../api/service.ts'
import styles from '../service/overview.module.css'
import own from './auto-deploys.module.css'
import { ActorLink, AutoDeployState, AutoDeploySwitch } from './state.tsx'
import { canChange } from './words.tsx'

export function AutoDeployPanel({ service }: { service: Service }) {
  if (!canChange(service) || service.state === 'deleting') return null
  return (
    <section className={styles.panel}>
      <h2>Automatic deploys</h2>
      <AutoDeployState service={service} />
      <div className={own.actions}>
        <AutoDeploySwitch service={service} />
        <Link to="/services/$name/auto-deploys" params={{ name: service.name }}>
          Settings
        </Link>
        <ActorLink service={service} />
      </div>
    </section>
  )
}
