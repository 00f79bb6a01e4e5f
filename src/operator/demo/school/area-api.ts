import type { Request, RequestHandler, Response, Router } from 'express';
import { addRoute, jsonBody, jsonObject, pageOf, queryText } from './api.ts';
import { ApiError } from './api-error.ts';
import { membersOnly, requireMember } from './gate-identity.ts';
import type { OwnedRow, Row } from './rows.ts';

/** One area of the REST service, as `data/areas.json` lists it. */
export interface Area {
  readonly name: string;
  /** Who may read: everyone, any member, or each member only their own rows. */
  readonly audience: 'everybody' | 'members' | 'own rows';
  readonly writable: boolean;
  /** The prefix of new ids. */
  readonly prefix: string;
  /** The area is a single object, not a list. */
  readonly single?: true;
  /** Rows of others are refused with 403 instead of 404: the ids are member ids, so there is nothing to hide. */
  readonly refuseOthers?: true;
  /** The fields that the query parameter `search` searches. */
  readonly searched?: readonly string[];
  /** A query parameter that filters the list, and the fields that it is compared with. */
  readonly filter?: readonly [parameter: string, ...fields: string[]];
  /** Missing for an area whose rows follow from the other data. */
  readonly rows?: readonly OwnedRow[];
}

/** The most new rows of an area. The oldest are dropped, so that a demo left running does not fill the memory. */
const MOST_NEW_ROWS = 500;

/** Adds the routes of an area, whose rows are then kept in memory. */
export function addArea(router: Router, area: Area, seed: readonly OwnedRow[], now: () => number): void {
  const { name, prefix, single, audience, writable } = area;
  const rows = new Map<string, { owner: string | undefined; row: Row }>();
  for (const { owner, ...row } of seed) rows.set(row.id, { owner, row });
  let last = 10_000;

  /** The row with the id or slug of the path. The id takes precedence. */
  const found = (request: Request, response: Response) => {
    const key = single ? name : String(request.params.id);
    const entry = rows.get(key) ?? [...rows.values()].find(({ row }) => row.slug === key);
    if (entry !== undefined && (audience !== 'own rows' || entry.owner === requireMember(response))) return entry;
    if (area.refuseOthers && key !== requireMember(response)) {
      throw new ApiError(403, 'not_yours', 'This record is not yours.');
    }
    throw new ApiError(404, 'not_found', 'There is no such record.');
  };
  const list: RequestHandler = (request, response) => {
    const member = audience === 'everybody' ? undefined : requireMember(response);
    const matches = queryOf(area, request);
    const visible = [...rows.values()].filter(({ owner }) => audience !== 'own rows' || owner === member);
    const matching = visible.map(({ row }) => row).filter(matches);
    response.json(pageOf(request, matching));
  };
  const read: RequestHandler = (request, response) => {
    if (audience !== 'everybody') requireMember(response);
    response.json({ data: found(request, response).row });
  };
  const create: RequestHandler = (request, response) => {
    const owner = requireMember(response);
    last += 1;
    const id = `${prefix}-${last}`;
    const row = { ...jsonObject(request), id, created_by: owner, created_at: now(), updated_at: now() };
    rows.set(id, { owner, row });
    rows.delete(`${prefix}-${last - MOST_NEW_ROWS}`);
    response.status(201).location(`${request.baseUrl}/${name}/${id}`).json({ data: row });
  };
  const write: RequestHandler = (request, response) => {
    const { owner, row: before } = found(request, response);
    const { id, created_by, created_at } = before;
    const fields = { ...(request.method === 'PUT' ? {} : before), ...jsonObject(request) };
    const by = single && { updated_by: requireMember(response) };
    const row = { ...fields, ...by, id, created_by, created_at, updated_at: now() };
    rows.set(id, { owner, row });
    response.status(request.method === 'POST' ? 201 : 200).json({ data: row });
  };
  const remove: RequestHandler = (request, response) => {
    rows.delete(found(request, response).row.id);
    response.status(204).end();
  };

  const change = [membersOnly, jsonBody, write];
  if (single) {
    addRoute(router, [`/${name}`, `/${name}/${name}`], { get: read, post: change, put: change, patch: change });
    return;
  }
  addRoute(router, `/${name}`, { get: list, ...(writable && { post: [membersOnly, jsonBody, create] }) });
  addRoute(router, `/${name}/:id`, {
    get: read,
    ...(writable && { put: change, patch: change, delete: [membersOnly, remove] }),
  });
}

/** Whether a row matches the filter of the query, and contains every word of its `search` in the searched fields. */
function queryOf({ filter: [parameter, ...compared] = [''], searched = [] }: Area, request: Request) {
  const wanted = compared.length > 0 ? queryText(request, parameter) : undefined;
  const search = searched.length > 0 ? queryText(request, 'search') : undefined;
  const words = search?.toLowerCase().split(/\s+/) ?? [];
  return (row: Row): boolean => {
    const text = searched.map((field) => String(row[field] ?? '').toLowerCase()).join(' ');
    const found = wanted === undefined || compared.some((field) => row[field] === wanted);
    return found && words.every((word) => text.includes(word));
  };
}
