import type { Area } from './areas.ts';
import type { Row } from './data/notices.ts';
import type { OwnedRow } from './seed.ts';

/** The most new rows of an area. The oldest are dropped, so that a demo left running does not fill the memory. */
const MOST_NEW_ROWS = 500;

/** The rows of one area, in memory. */
export class AreaRows {
  readonly #area: Area;
  readonly #rows: Map<string, OwnedRow>;
  readonly #added: string[] = [];
  #lastNumber = 10_000;

  constructor(area: Area, rows: readonly OwnedRow[]) {
    this.#area = area;
    this.#rows = new Map(rows.map((owned) => [owned.row.id, owned]));
  }

  /** All rows, or only those of `owner`. */
  list(owner?: string): readonly Row[] {
    const rows = [...this.#rows.values()];
    return (owner === undefined ? rows : rows.filter((owned) => owned.owner === owner)).map(({ row }) => row);
  }

  /** Finds a row by id or slug. The id takes precedence. */
  find(key: string): OwnedRow | undefined {
    return this.#rows.get(key) ?? [...this.#rows.values()].find(({ row }) => row.slug === key);
  }

  /** Adds a row with a new id. */
  add(fields: Readonly<Record<string, unknown>>, member: string, at: number): Row {
    this.#lastNumber += 1;
    const id = `${this.#area.prefix}-${this.#lastNumber}`;
    const row = { ...fields, id, created_by: member, created_at: at, updated_at: at };
    this.#rows.set(id, { row, owner: member });
    this.#added.push(id);
    if (this.#added.length > MOST_NEW_ROWS) this.#rows.delete(this.#added.shift() ?? '');
    return row;
  }

  /** Replaces the fields of a row, except for those that the school maintains itself. */
  replace(before: OwnedRow, fields: Readonly<Record<string, unknown>>, at: number): Row {
    const { id, created_by, created_at } = before.row;
    const kept = created_by === undefined ? {} : { created_by, created_at };
    const { created_by: _by, created_at: _at, ...rest } = fields;
    const row: Row = { ...rest, ...kept, id, updated_at: at };
    this.#rows.set(id, { ...before, row });
    return row;
  }

  remove(id: string): void {
    this.#rows.delete(id);
  }
}
