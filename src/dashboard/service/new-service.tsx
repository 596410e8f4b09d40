// How a service is created: in a terminal, until the browser can do it.
import { useState } from 'react'
import { Code } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'
import styles from './services.module.css'

export function NewService() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        New service
      </button>
      {isOpen && (
        <Dialog title="New service" closeLabel="Close" onClose={() => setOpen(false)}>
          <Commands />
        </Dialog>
      )}
    </>
  )
}

export function NoServices() {
  return (
    <section className={styles.empty}>
      <h2>Nothing is deployed yet</h2>
      <Commands />
    </section>
  )
}

function Commands() {
  return (
    <>
      <p>In the folder of your application:</p>
      <Code text={`berth login ${location.origin}\nberth up`} />
      <p>From a repository or an image:</p>
      <Code text="berth create" />
      <p className="quiet">
        From then on each push to the branch is deployed. <code>--auto-deploy off</code> prevents that; for an
        image, <code>--auto-deploy on</code> deploys each new one of its tag.
      </p>
      <p className="quiet">
        The service appears here as soon as it exists. <a href="/docs">Manual</a>
      </p>
    </>
  )
}
