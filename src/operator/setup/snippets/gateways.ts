import { apache } from './apache/apache.ts';
import { caddy } from './caddy/caddy.ts';
import { caddyAuth } from './caddy-auth.ts';
import { envoy } from './envoy.ts';
import type { AskingGateway, SendingServer } from './gateway.ts';
import { haproxy } from './haproxy.ts';
import { istio } from './istio.ts';
import { nginx } from './nginx/nginx.ts';
import { nginxAuth } from './nginx-auth/nginx-auth.ts';
import { traefik } from './traefik/traefik.ts';
import { traefikAuth } from './traefik-auth/traefik-auth.ts';

/** Web servers that send requests to the gate. */
export const SENDING = [nginx, apache, caddy, traefik] as const satisfies readonly SendingServer[];

/** Gateways that ask the gate, and forward requests themselves. */
export const ASKING = [
  nginxAuth,
  caddyAuth,
  traefikAuth,
  haproxy,
  envoy,
  istio,
] as const satisfies readonly AskingGateway[];
