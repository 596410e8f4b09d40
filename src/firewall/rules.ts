// The packet filter of the private network as one nft transaction, which defines who may connect to whom.
// Pure. Replies pass by connection tracking, so the sets list only who may open a connection.

/** The allowed connections; all addresses are IPv4, dotted. */
export interface Access {
  /** Source and destination. */
  pairs: (readonly [string, string])[]
  /** Destinations that every container may reach. */
  shared: string[]
  /** Source, and the TCP port of the host that it may reach. */
  hostPairs: (readonly [string, number])[]
}

export interface RuleSet extends Access {
  table: string
  /** The network interface of the host that all containers are connected to. */
  bridge: string
  /** TCP ports of the host that every container may reach. */
  hostPorts: readonly number[]
}

/** Metadata services of clouds, which return credentials. DNS, which some also serve, stays allowed. */
export const metadataAddresses = {
  ipv4: ['100.100.100.200', '168.63.129.16', '169.254.0.0/16', '192.0.0.192'],
  ipv6: ['fd00:ec2::254', 'fd20:ce::254', 'fe80::/10'],
}

const dnsPort = 53
/** Before Docker's own rules, which still apply to packets that pass here. */
const priority = -10

/** One per server: several can share a host. */
export function tableOf(prefix: string): string {
  return `${prefix}-isolation`
}

/** Replaces the whole table in one step, so rules are always in force. */
export function rulesText({ table, bridge, pairs, shared, hostPairs, hostPorts }: RuleSet): string {
  const ports = [...new Set([dnsPort, ...hostPorts])].sort((a, b) => a - b)
  return `table inet ${table}
delete table inet ${table}
table inet ${table} {
${set('pairs', 'ipv4_addr . ipv4_addr', pairs.map(concatenated))}
${set('shared', 'ipv4_addr', shared)}
${set('host_pairs', 'ipv4_addr . inet_service', hostPairs.map(concatenated))}
${set('metadata', 'ipv4_addr; flags interval', metadataAddresses.ipv4)}
${set('metadata6', 'ipv6_addr; flags interval', metadataAddresses.ipv6)}
  chain refuse {
    meta l4proto tcp reject with tcp reset
    reject with icmpx admin-prohibited
  }
  chain between_containers {
    ct state established,related accept
    ip saddr . ip daddr @pairs accept
    ip daddr @shared accept
    jump refuse
  }
  chain to_elsewhere {
    meta l4proto { tcp, udp } th dport ${dnsPort} accept
    ip daddr @metadata jump refuse
    ip6 daddr @metadata6 jump refuse
  }
  chain to_host {
    ct state established,related accept
    icmp type echo-request accept
    meta l4proto udp th dport ${dnsPort} accept
    tcp dport { ${ports.join(', ')} } accept
    ip saddr . tcp dport @host_pairs accept
    jump refuse
  }
  chain forward {
    type filter hook forward priority ${priority}; policy accept;
    iifname "${bridge}" oifname "${bridge}" jump between_containers
    iifname "${bridge}" oifname != "${bridge}" jump to_elsewhere
  }
  chain input {
    type filter hook input priority ${priority}; policy accept;
    iifname "${bridge}" jump to_host
  }
}
`
}

function concatenated(parts: readonly (string | number)[]): string {
  return parts.join(' . ')
}

function set(name: string, type: string, elements: readonly string[]): string {
  const sorted = [...new Set(elements)].sort()
  const content = sorted.length > 0 ? `\n    elements = { ${sorted.join(', ')} };` : ''
  return `  set ${name} {\n    type ${type};${content}\n  }`
}
