import { GatewayError } from '../errors.ts';
import type { Handler } from '../http/exchange.ts';
import { areaOf } from '../http/request-record.ts';
import type { Audit } from '../operations/audit.ts';
import type { AccountEndpoint } from './endpoint.ts';

/** Serves the endpoint behind the gate. Records which parts of the account were read, and audits mutations. */
export function accountHandler(endpoint: AccountEndpoint, audit: Audit): Handler {
  return ({ request, response, principal, provenance, record }) => {
    if (principal.kind !== 'member') throw new GatewayError('internal');
    const began = performance.now();
    return endpoint(request, response, principal, {
      gave(fields, how) {
        record.areas = fields.map(how === 'read' ? areaOf.field : areaOf.change);
      },
      changed: (name, outcome) =>
        audit({
          action: 'mutation_called',
          used: { kind: 'mutation', name },
          outcome,
          milliseconds: performance.now() - began,
          clientId: principal.clientId,
          grantId: principal.grantId,
          member: principal.sub,
          address: provenance.clientAddress,
          requestId: provenance.requestId,
        }),
    });
  };
}
