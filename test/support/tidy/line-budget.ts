// How many hand-written lines the product may have. A change that needs more raises its number and says why.

export const lineBudget = {
  /**
   * src without the dashboard, machines and storage. Recipes for a dozen languages take about 4,500.
   * Operations (backups of the server and of disks, doctor, alerts, notifications, audit, shell, copies) take
   * about 11,000. Renewing refused git tokens and reading ssh addresses of groups take about 200.
   * Ends of containers that the engine did not see, and a HAProxy that is restarted during a switch, take
   * about 60. Automatic deploys take about 1,600, hooks about 1,000, statuses of commits and waits for checks
   * about 1,200, deploy keys and Git LFS about 1,100. Readers take about 400, bounds on strangers' bodies and
   * on the audit log about 500, imports that keep data about 900, warnings of data without a disk about 500,
   * next steps of commands about 500, and kept disks for new services about 70.
   */
  product: 89_900,
  /** Pages of the server (alerts, doctor, backups, places, audit) and of automatic deploys take 2,700. */
  dashboard: 13_050,
} as const
