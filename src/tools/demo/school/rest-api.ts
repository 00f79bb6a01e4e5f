import { Router } from 'express';
import { jsonErrors, nothingHere, onlyMethods } from './api-error.ts';
import { areaApi } from './area-api.ts';
import type { SchoolData } from './data/school-data.ts';
import { enrolmentApi } from './enrolment-api.ts';
import { type Gate, gateIdentity, identityOf } from './gate-identity.ts';
import { storageApi } from './storage-api.ts';
import { ticks } from './ticks.ts';

/** The parts of the REST service. */
export interface RestParts {
  readonly data: SchoolData;
  readonly gate: () => Gate | undefined;
  readonly clock: () => number;
}

/** Everything below /api/v1. Callers are identified by the gate's assertion, never by a cookie. */
export function restApi({ data, gate, clock }: RestParts): Router {
  const router = Router({ caseSensitive: true });
  router.use(gateIdentity('school', gate));
  router.use((_request, response, next) => {
    response.set('cache-control', 'private, no-cache');
    next();
  });
  router
    .route('/whoami')
    .get((request, response) => {
      const identity = identityOf(response);
      response.json({
        data: {
          member_id: identity?.memberId ?? null,
          email: identity?.email ?? null,
          name: data.members.find((member) => member.id === identity?.memberId)?.name ?? null,
          scope: identity?.claims.scope ?? null,
          client_id: identity?.claims.client_id ?? null,
          headers: request.headers,
        },
      });
    })
    .all(onlyMethods('GET', 'HEAD'));
  router.route('/ticks').get(ticks).all(onlyMethods('GET', 'HEAD'));
  router.use(enrolmentApi(data.enrolments), storageApi(clock), areaApi(data, clock));
  router.use(nothingHere, jsonErrors);
  return router;
}
