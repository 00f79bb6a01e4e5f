import type { SendingServer } from '../gateway.ts';
import { expressionOf, head, type SendingPlan, spelled } from '../sending.ts';
import { filledIn } from '../yaml-template.ts';

export const traefik = {
  name: 'traefik',
  title: 'Traefik',
  file: 'traefik.yaml',
  write,
} as const satisfies SendingServer;

/** For the file provider of Traefik 3. Traefik sets X-Forwarded-* itself, and accepts none from untrusted clients. */
function write(plan: SendingPlan): string {
  const { gate, origin, identityFields } = plan;
  const { hostname, protocol } = new URL(origin);
  const none = Object.fromEntries(spelled(identityFields).map((name) => [name, '']));
  return `${head(plan)}
# For the file provider of Traefik 3.
${filledIn('traefik/traefik.yaml', {
  rule: `Host(\`${hostname}\`) && PathRegexp(\`${expressionOf(plan)}\`)`,
  tls: protocol === 'https:' ? {} : undefined,
  url: `http://${gate}`,
  middlewares:
    identityFields.length === 0 ? undefined : { 'coursegate-site': { headers: { customRequestHeaders: none } } },
})}`;
}
