import { type HttpServer, startConfigured } from './http-server.ts';

/** A gate behind the balancer. */
interface Behind {
  readonly port: number;
  readonly adminPort: number;
}

export interface HaproxyReplicas extends HttpServer {
  readonly origin: string;
}

/**
 * HAProxy in front of replicas as docs/lifecycle.md has it: it asks each whether it is ready, on its admin listener, and
 * sends a request to another one when a connection to the first cannot be made. In: the port that it listens on.
 */
export function startHaproxyReplicas(port: number, replicas: readonly Behind[]): Promise<HaproxyReplicas> {
  return startConfigured(
    'haproxy',
    port,
    () => `
global
  maxconn 2000
defaults
  mode http
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout tunnel 1h
  timeout check 5s
frontend school
  bind 127.0.0.1:${port}
  default_backend gates
backend gates
  balance roundrobin
  option httpchk GET /readyz
  option redispatch 1
  retries 3
  default-server check inter 500ms fall 1 rise 1
${replicas.map((one, at) => `  server gate${at} 127.0.0.1:${one.port} port ${one.adminPort}`).join('\n')}
`,
  ).then((server) => ({ ...server, origin: `http://localhost:${port}` }));
}
