// Services, what runs of them, their domains, variables and disks.
const states =
  '`not_deployed`: never deployed. `deploying`: the first deploy is in progress. `live`: a version ' +
  'serves. `degraded`: it serves, but instances are missing or keep crashing. `failed`: nothing serves and ' +
  'the last deploy failed. `suspended`: stopped on request. `deleting`: it is being deleted.'

export const serviceMeanings: Record<string, string> = {
  Service: 'A service with its settings and its state. Unset settings are null.',
  'Service.type':
    '`web_service`: public, over http. `private_service`: for other services only. `background_worker`: ' +
    'no port. `cron_job`: runs on a schedule. `static_site`: files, public, over http.',
  'Service.build_command': 'Always null. It cannot be set and has no effect.',
  'Service.auto_deploy': 'Always true. It cannot be set and has no effect.',
  'Service.watch_paths': 'Always empty. It cannot be set and has no effect.',
  'Service.suspended': 'Whether the service was stopped on request.',
  'Service.live_deploy_id': 'The live deploy; null without one.',
  'Service.state': states,
  'Service.hosts': 'All hosts of the service; empty if it is not public.',
  'Service.internal_host': 'Host name for other services; null without a port.',
  'Service.internal_port': 'Port for other services.',
  'Service.latest_deploy': 'The newest deploy, in any status; null before the first.',
  CreateService: 'A new service.',
  'CreateService.name': 'Unique among services and datastores; part of its hosts.',
  'CreateService.env': 'Its env variables.',
  'UpdateService.suspended': 'true stops all instances, false starts them again. Takes effect immediately.',
  ScaleService: 'The number of instances of a service.',
  'ScaleService.instances': 'The number of instances; 1 for a service with a disk.',

  ServiceStatus: 'The current instances of a service, as Docker reports them.',
  'ServiceStatus.state': states,
  'ServiceStatus.desired_instances': 'The desired number of instances.',
  'ServiceStatus.instances':
    'The containers of the service, including those that start, drain or are being removed.',
  'ServiceStatus.instances.container_id': 'The id of the container.',
  'ServiceStatus.instances.name': 'The name of the container.',
  'ServiceStatus.instances.deploy_id': 'The deploy of the instance.',
  'ServiceStatus.instances.state': "Docker's word: running, exited, restarting, …",
  'ServiceStatus.instances.started_at': 'When its process started; null if it never did.',
  'ServiceStatus.instances.restart_count': 'The number of restarts after its process ended.',
  'ServiceStatus.instances.cpu_percent': 'Current usage of one CPU; null if unknown.',
  'ServiceStatus.instances.memory_bytes': 'Current memory usage; null if unknown.',
  'ServiceStatus.instances.memory_limit_bytes': 'The memory limit; null without a limit.',
  'ServiceStatus.instances.cpu_limit': 'The CPU limit; null without a limit.',
  'ServiceStatus.instances.oom_killed': 'Whether it last ended because of its memory limit.',
  'ServiceStatus.instances.exit_code': 'The exit code of its last process; null while it runs.',
  Traffic: 'The requests of the last minutes.',
  'Traffic.window_seconds': 'The period, in seconds.',
  'Traffic.requests': 'The number of requests.',
  'Traffic.p50_ms': 'Median response time.',
  'Traffic.p95_ms': '95th percentile of the response time.',
  'Traffic.p99_ms': '99th percentile of the response time.',

  ServiceDomain: 'A host of a service.',
  'ServiceDomain.domain': 'The host.',
  'ServiceDomain.certificate.status': 'The status of its certificate.',
  'ServiceDomain.certificate.error': 'Why it has no certificate, or why the renewal failed.',
  'ServiceDomain.certificate.not_after': 'When its certificate expires.',
  AddDomain: 'A domain for a service.',

  'EnvVar.key': 'Letters, digits and _, not starting with a digit.',
  'EnvVar.value': 'Stored byte by byte; must not contain NUL.',
  ShownEnvVar: 'An env variable.',
  'ShownEnvVar.key': 'The name of the variable.',
  ReplaceEnv: 'All env variables of a service.',
  'ReplaceEnv.vars': 'The new variables; all others are removed.',
  'ChangeEnv.set': 'Variables to add or change.',
  'ChangeEnv.unset': 'Keys of variables to remove; unknown keys are ignored.',
  'EnvChanges.added': 'Added keys.',
  'EnvChanges.changed': 'Keys with a changed value.',
  'EnvChanges.removed': 'Removed keys.',
  'EnvChanges.unresolved': 'Keys whose value refers to something that does not exist.',

  Disk: 'The disk of a service.',
  'Disk.service_id': 'The id of its service, which may be deleted.',
  ChownDisk: 'The new owner of all files of a disk.',
  DiskChown: 'A change of the owner of all files of a disk.',
  'DiskChown.status':
    '`running`: some files may have the new owner already. `succeeded`: all have it. `failed`: see `error`.',
}
