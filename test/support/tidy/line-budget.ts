// How many hand-written lines the product may have. A change that needs more raises its number and says why.

export const lineBudget = {
  /**
   * src without the dashboard, machines and storage. Recipes for a dozen languages take about 4,500.
   * Operations (backups of the server and of disks, doctor, alerts, notifications, audit, shell, copies) take
   * about 11,000. Renewing refused git tokens and reading ssh addresses of groups take about 200.
   * Ends of containers that the engine did not see, and a HAProxy that is
   * restarted during a switch, take about 60. Automatic deploys take about 1,150, and
   * hooks about 870.
   */
  product: 83_290,
  /** Pages of the server (alerts, doctor, backups, places, channels, audit) take about 1,400. */
  dashboard: 11_610,
} as const
