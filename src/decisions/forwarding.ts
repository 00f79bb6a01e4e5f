import type { Config } from '../config/schema.ts';
import { IDENTITY_FIELDS } from '../http/identity-fields.ts';
import type { Provenance } from '../http/provenance.ts';
import type { RequestInFlight } from '../http/requests-in-flight.ts';
import { type HeaderPolicy, protectedPolicies } from '../upstream/header-policy.ts';
import { requestHeaders } from '../upstream/headers.ts';
import { permission, type Tell, tellPlainly } from './decision-response.ts';
import { DECISION_FIELDS } from './protocol.ts';

/** Describes the message itself, which the gateway frames itself. */
const FRAMING: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding']);
const IDENTITY: ReadonlySet<string> = new Set(IDENTITY_FIELDS.map((name) => name.toLowerCase()));

/**
 * Returns what Envoy, which can remove fields, does to an admitted request, so that the upstream gets what the gate would
 * have sent on the protected lane, and nothing else: fields to set in place of those of the same name (alternating names
 * and values), and names of fields to remove (lower case). `identity` is every identity field, as names and values.
 */
export function createForwarding(config: Pick<Config, 'upstreams' | 'origin'>) {
  const policies = protectedPolicies(config);

  return ({ request, record }: RequestInFlight, identity: readonly string[]) => {
    const policy = policies.get(record?.upstream ?? '');
    if (record === undefined || policy === undefined) throw new Error('An admitted request has no upstream.');
    const kept = requestHeaders(request.rawHeaders, beforeTheGateway(record.provenance), policy);
    const set = [...setByUs(kept, policy), ...identity.filter((_, at) => identity[at | 1] !== '')];
    const passed = new Set([...namesOf(kept), ...namesOf(set), ...FRAMING]);
    // Every name that was received, unless it may pass; and every identity field, whether it was received or not.
    const received = new Set([...namesOf(request.rawHeaders), ...IDENTITY]);
    return { set, remove: [...received].filter((name) => !passed.has(name)) };
  };
}

/** Tells Envoy, which besides fields to set takes a list of those to remove. */
export function tellEnvoy(request: RequestInFlight, forwardingOf: ReturnType<typeof createForwarding>): Tell {
  return (decided) => {
    if (decided.kind === 'refused') return tellPlainly(decided);
    const { set, remove } = forwardingOf(request, decided.identity);
    const without = IDENTITY_FIELDS.filter((name) => remove.includes(name.toLowerCase())).flatMap((name) => [name, '']);
    // X-Request-Id is for both sides, with the same value.
    const ofBoth = namesOf(set);
    const forClient = decided.own.filter((_, at) => !ofBoth.has((decided.own[at & ~1] as string).toLowerCase()));
    return permission([...set, ...without, ...forClient, DECISION_FIELDS.remove, remove.join(',')]);
  };
}

/**
 * The gate connects to no upstream here, so the gateway, which asked it, is not a hop: backends that count proxies
 * would take its address for the client's.
 */
function beforeTheGateway(provenance: Provenance): Provenance {
  const { clientAddress, hops, trusted, requestId } = provenance;
  return {
    clientAddress,
    hops: hops === clientAddress ? hops : hops.slice(0, hops.lastIndexOf(', ')),
    trusted,
    requestId,
    traceId: () => provenance.traceId(),
    traceFields: () => provenance.traceFields(),
  };
}

/** What the policy takes from no client is ours. Host is set by the route of the gateway. */
function setByUs(kept: readonly string[], policy: HeaderPolicy): string[] {
  return kept.filter((_, at) => {
    const name = kept[at & ~1] as string;
    return name !== 'Host' && policy.requestField(name) === 'drop';
  });
}

/** In lower case. */
function namesOf(fields: readonly string[]): Set<string> {
  return new Set(fields.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
}
