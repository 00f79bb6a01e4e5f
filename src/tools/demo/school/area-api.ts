import type { Request, RequestHandler, Response, Router } from 'express';
import { addRoute, jsonBody, jsonObject, type Parts, pageOf } from './api.ts';
import { ApiError } from './api-error.ts';
import { AREAS, type Area } from './areas.ts';
import { membersOnly, requireMember } from './gate-identity.ts';
import { type OwnedRow, type Row, seedAreas } from './seed.ts';

/** The most new rows of an area. The oldest are dropped, so that a demo left running does not fill the memory. */
const MOST_NEW_ROWS = 500;

/** Adds the routes of every area in the table. */
export function addAreas(router: Router, { data, now }: Parts): void {
  const seed = seedAreas(data);
  for (const area of AREAS) {
    const rows = new Map((seed[area.name] ?? []).map((owned) => [owned.row.id, owned]));
    if (area.single) addSingle(router, area, rows, now);
    else addList(router, area, rows, now);
  }
}

type Rows = Map<string, OwnedRow>;

function addList(router: Router, area: Area, rows: Rows, now: () => number): void {
  let last = 10_000;
  const list: RequestHandler = (request, response) => {
    const owner = area.audience === 'everybody' ? undefined : requireMember(response);
    const visible = [...rows.values()].filter((owned) => area.audience !== 'own rows' || owned.owner === owner);
    const matching = filtered(
      area,
      request,
      visible.map(({ row }) => row),
    );
    response.json(pageOf(request, searched(area, request, matching)));
  };
  const create: RequestHandler = (request, response) => {
    const member = requireMember(response);
    last += 1;
    const id = `${area.prefix}-${last}`;
    const at = now();
    const row = { ...jsonObject(request), id, created_by: member, created_at: at, updated_at: at };
    rows.set(id, { row, owner: member });
    rows.delete(`${area.prefix}-${last - MOST_NEW_ROWS}`);
    response.status(201).location(`${request.baseUrl}/${area.name}/${id}`).json({ data: row });
  };
  const read: RequestHandler = (request, response) => {
    if (area.audience !== 'everybody') requireMember(response);
    response.json({ data: found(area, rows, request, response).row });
  };
  const update: RequestHandler = (request, response) => {
    const before = found(area, rows, request, response);
    const base = request.method === 'PATCH' ? before.row : {};
    response.json({ data: replace(rows, before, { ...base, ...jsonObject(request) }, now()) });
  };
  const remove: RequestHandler = (request, response) => {
    rows.delete(found(area, rows, request, response).row.id);
    response.status(204).end();
  };
  const write = [membersOnly, jsonBody, update];
  addRoute(router, `/${area.name}`, { get: list, ...(area.writable && { post: [membersOnly, jsonBody, create] }) });
  addRoute(router, `/${area.name}/:id`, {
    get: read,
    ...(area.writable && { put: write, patch: write, delete: [membersOnly, remove] }),
  });
}

/** Routes of an area with a single object, which is read and written at the area's path or at its id. */
function addSingle(router: Router, { name }: Area, rows: Rows, now: () => number): void {
  const only = (): OwnedRow => rows.get(name) ?? missing();
  const write: RequestHandler = (request, response) => {
    const before = only();
    const base = request.method === 'PUT' ? {} : before.row;
    const fields = { ...base, ...jsonObject(request), updated_by: requireMember(response) };
    response.status(request.method === 'POST' ? 201 : 200).json({ data: replace(rows, before, fields, now()) });
  };
  const chain = [membersOnly, jsonBody, write];
  addRoute(router, [`/${name}`, `/${name}/${name}`], {
    get: (_request, response) => void response.json({ data: only().row }),
    post: chain,
    put: chain,
    patch: chain,
  });
}

/** Replaces the fields of a row, except for those that the school maintains itself. */
function replace(rows: Rows, before: OwnedRow, fields: Readonly<Record<string, unknown>>, at: number): Row {
  const { id, created_by, created_at } = before.row;
  const { created_by: _by, created_at: _at, ...rest } = fields;
  const row = { ...rest, ...(created_by !== undefined && { created_by, created_at }), id, updated_at: at };
  rows.set(id, { ...before, row });
  return row;
}

/** The row with the id or slug of the path. The id takes precedence. */
function found(area: Area, rows: Rows, request: Request, response: Response): OwnedRow {
  const key = String(request.params.id);
  const owned = rows.get(key) ?? [...rows.values()].find(({ row }) => row.slug === key);
  if (area.audience !== 'own rows') return owned ?? missing();
  const memberId = requireMember(response);
  if (owned?.owner === memberId) return owned;
  if (area.refuseOthers && key !== memberId) throw new ApiError(403, 'not_yours', 'This record is not yours.');
  return missing();
}

function filtered({ filter }: Area, request: Request, rows: readonly Row[]): readonly Row[] {
  const [parameter, ...fields] = filter ?? [];
  const wanted = parameter && single(request, parameter);
  return wanted === undefined ? rows : rows.filter((row) => fields.some((field) => row[field] === wanted));
}

/** The rows that contain every word of `search` in the area's searched fields. */
function searched({ searched: fields }: Area, request: Request, rows: readonly Row[]): readonly Row[] {
  const search = fields && single(request, 'search');
  if (fields === undefined || search === undefined) return rows;
  const words = search.toLowerCase().split(/\s+/);
  return rows.filter((row) => {
    const text = fields.map((field) => String(row[field] ?? '').toLowerCase()).join(' ');
    return words.every((word) => text.includes(word));
  });
}

function single(request: Request, parameter: string): string | undefined {
  const given = request.query[parameter];
  if (given === undefined || typeof given === 'string') return given;
  throw new ApiError(400, 'bad_request', `${parameter} must not be repeated.`);
}

function missing(): never {
  throw new ApiError(404, 'not_found', 'There is no such record.');
}
