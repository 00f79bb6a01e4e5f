/** Web servers that send requests to the gate, by the name in `snippets --for`. */
const SENDING = ['nginx', 'apache', 'caddy', 'traefik'] as const;

/** Gateways that ask the gate and forward requests themselves, by the name in `snippets --for`. */
const ASKING = [
  'nginx-auth',
  'caddy-auth',
  'traefik-auth',
  'haproxy',
  'envoy',
  'envoy-grpc',
  'istio',
  'gateway-api',
] as const;

export const SERVERS = [...SENDING, ...ASKING] as const;
export type Server = (typeof SERVERS)[number];

/** Gateways by the name in `init --plugin`. */
export const PLUGINS = ['nginx', 'caddy', 'traefik', 'haproxy', 'envoy'] as const;
export type Plugin = (typeof PLUGINS)[number];

/** Frameworks by the name in `init --framework`. */
export const FRAMEWORKS = [
  'wordpress',
  'moodle',
  'learnhouse',
  'frappe',
  'django',
  'rails',
  'laravel',
  'express',
  'spring',
  'generic',
] as const;
export type Framework = (typeof FRAMEWORKS)[number];
