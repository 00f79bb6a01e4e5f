import { IDENTITY_FIELDS } from '../http/identity-fields.ts';
import type { RequestInFlight } from '../http/requests-in-flight.ts';
import { permission, type Tell, tellPlainly } from './decision-response.ts';
import { type ForwardingOf, namesOf } from './forwarding.ts';
import { DECISION_FIELDS } from './protocol.ts';

/** Tells Envoy, which besides fields to set takes a list of those to remove. */
export function tellEnvoy(request: RequestInFlight, forwardingOf: ForwardingOf): Tell {
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
