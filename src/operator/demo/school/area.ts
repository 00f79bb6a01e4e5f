import type { OwnedRow } from './rows.ts';

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
