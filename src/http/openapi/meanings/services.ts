// Services, what runs of them, their domains, variables and disks.
const states =
  '`not_deployed`: nothing was deployed. `deploying`: the first version is on its way. `live`: a version ' +
  'serves. `degraded`: it serves, but instances are missing or keep crashing. `failed`: nothing serves and ' +
  'the last deploy failed. `suspended`: stopped on request. `deleting`: it is being deleted.'

export const serviceMeanings: Record<string, string> = {
  Service: 'A service: its settings, and what became of them. A setting that is not set is null.',
  'Service.type':
    '`web_service`: public, over http. `private_service`: for other services only. `background_worker`: ' +
    'listens nowhere. `cron_job`: runs by its schedule. `static_site`: files, public, over http.',
  'Service.build_command': 'Always null. Nothing can set it, and it has no effect.',
  'Service.auto_deploy': 'Always true. Nothing can set it, and it has no effect.',
  'Service.watch_paths': 'Always empty. Nothing can set it, and it has no effect.',
  'Service.suspended': 'Whether it was stopped on request.',
  'Service.live_deploy_id': 'The deploy that serves; null when none does.',
  'Service.state': states,
  'Service.hosts': 'Every host that leads to it; empty when it is not public.',
  'Service.internal_host': 'As other services reach it; null when it listens nowhere.',
  'Service.internal_port': 'The port there.',
  'Service.latest_deploy': 'The newest deploy, whatever became of it; null before the first.',
  CreateService: 'A service to be created.',
  'CreateService.name': 'Unique among services and datastores; part of its hosts.',
  'CreateService.env': 'Its env variables.',
  'UpdateService.suspended': 'true stops all instances, false starts them again. At once.',
  ScaleService: 'How many instances a service has.',
  'ScaleService.instances': 'The number of instances; 1 for a service with a disk.',

  ServiceStatus: 'What runs of a service right now, as Docker reports it.',
  'ServiceStatus.state': states,
  'ServiceStatus.desired_instances': 'How many instances should run.',
  'ServiceStatus.instances': 'The containers of the service, also those that start, drain or are removed.',
  'ServiceStatus.instances.container_id': 'The id of the container.',
  'ServiceStatus.instances.name': 'The name of the container.',
  'ServiceStatus.instances.deploy_id': 'The deploy that it is an instance of.',
  'ServiceStatus.instances.state': "Docker's word: running, exited, restarting, …",
  'ServiceStatus.instances.started_at': 'When its process started; null when it never did.',
  'ServiceStatus.instances.restart_count': 'How often it was started again after its process ended.',
  'ServiceStatus.instances.cpu_percent': 'Of one CPU, just now; null when it is not known.',
  'ServiceStatus.instances.memory_bytes': 'The memory that it uses; null when it is not known.',
  'ServiceStatus.instances.memory_limit_bytes': 'The memory that it may use; null without a limit.',
  'ServiceStatus.instances.cpu_limit': 'The CPUs that it may use; null without a limit.',
  'ServiceStatus.instances.oom_killed': 'Whether it last ended because it ran out of memory.',
  'ServiceStatus.instances.exit_code': 'How its process last ended; null while it runs.',
  Traffic: 'The requests of the last minutes.',
  'Traffic.window_seconds': 'How many seconds it covers.',
  'Traffic.requests': 'How many requests came.',
  'Traffic.p50_ms': 'Half of them were answered within this time.',
  'Traffic.p95_ms': '95 of 100 were answered within this time.',
  'Traffic.p99_ms': '99 of 100 were answered within this time.',

  ServiceDomain: 'A host that leads to a service.',
  'ServiceDomain.domain': 'The host.',
  'ServiceDomain.certificate.status': 'As in the status of a certificate.',
  'ServiceDomain.certificate.error': 'Why it has none, or why its renewal failed.',
  'ServiceDomain.certificate.not_after': 'Until when it is valid.',
  AddDomain: 'A domain for a service.',

  'EnvVar.key': 'Letters, digits and _, no digit first.',
  'EnvVar.value': 'Byte by byte as given; never NUL.',
  ShownEnvVar: 'An env variable.',
  'ShownEnvVar.key': 'The name of the variable.',
  ReplaceEnv: 'All env variables of a service.',
  'ReplaceEnv.vars': 'The new variables; every other one is removed.',
  'ChangeEnv.set': 'Variables to be added or changed.',
  'ChangeEnv.unset': 'Keys of variables to be removed; unknown ones are ignored.',
  'EnvChanges.added': 'Keys that are new.',
  'EnvChanges.changed': 'Keys with another value.',
  'EnvChanges.removed': 'Keys that go.',
  'EnvChanges.unresolved': 'Keys whose value refers to something that does not exist.',

  Disk: 'The disk of a service.',
  'Disk.service_id': 'The id of its service, which may be gone.',
}
