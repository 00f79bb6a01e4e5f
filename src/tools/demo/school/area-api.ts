import { type Request, type RequestHandler, type Response, Router } from 'express';
import { ApiError, onlyMethods } from './api-error.ts';
import { AreaRows } from './area-rows.ts';
import { AREAS, type Area } from './areas.ts';
import type { Row } from './data/notices.ts';
import type { SchoolData } from './data/school-data.ts';
import { unixSeconds } from './data/time.ts';
import { identityOf, requireIdentity } from './gate-identity.ts';
import { jsonObject } from './json-object.ts';
import { pageOf } from './paging.ts';
import { type OwnedRow, seedAreas } from './seed.ts';
import { jsonBody } from './service.ts';

/** The routes of every area in the table. */
export function areaApi(data: SchoolData, clock: () => number): Router {
  const router = Router({ caseSensitive: true });
  const seed = seedAreas(data);
  for (const area of AREAS) {
    const rows = new AreaRows(area, seed[area.name] ?? []);
    if (area.single) mountSingle(router, area, rows, clock);
    else mountList(router, area, rows, clock);
  }
  return router;
}

function mountList(router: Router, area: Area, rows: AreaRows, clock: () => number): void {
  const list = router.route(`/${area.name}`);
  const item = router.route(`/${area.name}/:id`);
  list.get((request, response) => {
    const reader = readerOf(area, response);
    response.json(pageOf(request, searched(area, request, filtered(area, request, rows.list(reader)))));
  });
  item.get((request, response) => {
    readerOf(area, response);
    response.json({ data: found(area, rows, request, response).row });
  });
  if (!area.writable) {
    list.all(onlyMethods('GET', 'HEAD'));
    item.all(onlyMethods('GET', 'HEAD'));
    return;
  }
  list.post(membersOnly, jsonBody, (request, response) => {
    const row = rows.add(jsonObject(request), requireIdentity(response).memberId, unixSeconds(clock()));
    response.status(201).location(`${request.baseUrl}/${area.name}/${row.id}`).json({ data: row });
  });
  item.put(membersOnly, jsonBody, (request, response) => {
    const before = found(area, rows, request, response);
    response.json({ data: rows.replace(before, jsonObject(request), unixSeconds(clock())) });
  });
  item.patch(membersOnly, jsonBody, (request, response) => {
    const before = found(area, rows, request, response);
    const fields = { ...before.row, ...jsonObject(request) };
    response.json({ data: rows.replace(before, fields, unixSeconds(clock())) });
  });
  item.delete(membersOnly, (request, response) => {
    rows.remove(found(area, rows, request, response).row.id);
    response.status(204).end();
  });
  list.all(onlyMethods('GET', 'HEAD', 'POST'));
  item.all(onlyMethods('GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'));
}

/** Routes of an area with a single object, which is read and written at the area's path or at its id. */
function mountSingle(router: Router, area: Area, rows: AreaRows, clock: () => number): void {
  const only = (): OwnedRow => {
    const owned = rows.find(area.name);
    if (owned === undefined) throw missing();
    return owned;
  };
  const write: RequestHandler = (request, response) => {
    const { memberId } = requireIdentity(response);
    const before = only();
    const fields = request.method === 'PUT' ? jsonObject(request) : { ...before.row, ...jsonObject(request) };
    const row = rows.replace(before, { ...fields, updated_by: memberId }, unixSeconds(clock()));
    response.status(request.method === 'POST' ? 201 : 200).json({ data: row });
  };
  const read: RequestHandler = (_request, response) => {
    response.json({ data: only().row });
  };
  router
    .route([`/${area.name}`, `/${area.name}/${area.name}`])
    .get(read)
    .post(membersOnly, jsonBody, write)
    .put(membersOnly, jsonBody, write)
    .patch(membersOnly, jsonBody, write)
    .all(onlyMethods('GET', 'HEAD', 'POST', 'PUT', 'PATCH'));
}

/** Runs before the body parser, so that the school does not read bodies of anonymous callers. */
const membersOnly: RequestHandler = (_request, response, next) => {
  requireIdentity(response);
  next();
};

/** The member whose rows to show, or undefined for all rows. Throws if the caller may not read any. */
function readerOf(area: Area, response: Response): string | undefined {
  if (area.audience === 'everybody') return undefined;
  const { memberId } = requireIdentity(response);
  return area.audience === 'own rows' ? memberId : undefined;
}

function found(area: Area, rows: AreaRows, request: Request, response: Response): OwnedRow {
  const key = String(request.params.id);
  const owned = rows.find(key);
  if (area.audience !== 'own rows') {
    if (owned === undefined) throw missing();
    return owned;
  }
  const memberId = identityOf(response)?.memberId;
  if (owned !== undefined && owned.owner === memberId) return owned;
  if (area.refuseOthers && key !== memberId) throw new ApiError(403, 'not_yours', 'This record is not yours.');
  throw missing();
}

function filtered(area: Area, request: Request, rows: readonly Row[]): readonly Row[] {
  return Object.entries(area.filters ?? {}).reduce((left, [parameter, fields]) => {
    const wanted = request.query[parameter];
    if (wanted === undefined) return left;
    if (typeof wanted !== 'string') throw new ApiError(400, 'bad_request', `${parameter} must not be repeated.`);
    return left.filter((row) => fields.some((field) => row[field] === wanted));
  }, rows);
}

/** The rows that contain every word of `search` in the area's searched fields. */
function searched({ searched: fields = [] }: Area, request: Request, rows: readonly Row[]): readonly Row[] {
  const { search } = request.query;
  if (search === undefined || fields.length === 0) return rows;
  if (typeof search !== 'string') throw new ApiError(400, 'bad_request', 'search must not be repeated.');
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return rows.filter((row) => {
    const text = fields
      .map((field) => String(row[field] ?? ''))
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function missing(): ApiError {
  return new ApiError(404, 'not_found', 'There is no such record.');
}
