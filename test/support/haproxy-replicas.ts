import { type HttpServer, startConfigured } from './http-server.ts';
import { freePort } from './world.ts';

/** A gate behind the balancer. */
interface Behind {
  readonly port: number;
  readonly adminPort: number;
}

export interface HaproxyReplicas extends HttpServer {
  readonly origin: string;
  /** Resolves when the balancer sends requests to that replica. */
  takes(at: number): Promise<void>;
}

/**
 * HAProxy in front of replicas, listening on `port`. It polls readiness on each replica's admin listener and never
 * retries, so a request to a stopped replica counts as failed.
 */
export async function startHaproxyReplicas(port: number, replicas: readonly Behind[]): Promise<HaproxyReplicas> {
  const statistics = await freePort();
  const server = await startConfigured(
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
  retries 0
  default-server check inter 500ms fall 1 rise 1
${replicas.map((one, at) => `  server gate${at} 127.0.0.1:${one.port} port ${one.adminPort}`).join('\n')}
frontend statistics
  bind 127.0.0.1:${statistics}
  stats enable
  stats uri /
`,
  );
  return {
    ...server,
    origin: `http://localhost:${port}`,
    async takes(at) {
      for (;;) {
        const table = await (await fetch(`http://127.0.0.1:${statistics}/;csv`)).text();
        const row = table.split('\n').find((line) => line.startsWith(`gates,gate${at},`));
        if (row?.split(',')[STATUS] === 'UP') return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

/** The status column in HAProxy's CSV statistics. */
const STATUS = 17;
