import { caddyAuth } from './caddy-auth.ts';
import { envoy } from './envoy.ts';
import { haproxy } from './haproxy.ts';
import { istio } from './istio.ts';
import { nginxAuth } from './nginx-auth.ts';
import { traefikAuth } from './traefik-auth.ts';

/** Gateways that ask the gate, and forward requests themselves. */
export const ASKING = [nginxAuth, caddyAuth, traefikAuth, haproxy, envoy, istio] as const;
