import { type Express, Router } from 'express';
import { ApiError, jsonErrors, nothingHere, onlyMethods } from './api-error.ts';
import { type RestParts, restApi } from './rest-api.ts';
import { createService } from './service.ts';
import { site } from './site.ts';
import type { Visitors } from './visitors.ts';

/** The school itself: its pages, `/api/me` for the signed-in member, and the REST service. */
export function schoolService(parts: RestParts, visitors: Visitors): Express {
  const service = createService();
  const api = Router({ caseSensitive: true });
  api
    .route('/me')
    .get((request, response) => {
      response.set('cache-control', 'no-store');
      const member = visitors.memberOf(request);
      if (member === undefined) throw new ApiError(401, 'sign_in_required', 'Nobody is signed in.');
      const { id, email, name } = member;
      response.json({ id, email, name, membership: 'active', locale: 'en' });
    })
    .all(onlyMethods('GET', 'HEAD'));
  api.use('/v1', restApi(parts));
  api.use(nothingHere, jsonErrors);
  service.use('/api', api);
  service.use(site(parts.data, visitors, parts.clock));
  return service;
}
