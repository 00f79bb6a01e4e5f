/** One area of the REST service. */
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
}

const COURSE = ['course', 'course_slug', 'course_id'] as const;

/** The table of areas below /api/v1. A new area is a line here and its rows in `seed.ts`. */
export const AREAS: readonly Area[] = [
  { name: 'courses', audience: 'everybody', writable: true, prefix: 'c', searched: ['title', 'summary'] },
  { name: 'curriculum', audience: 'everybody', writable: true, prefix: 'cu', filter: COURSE },
  { name: 'lecturers', audience: 'everybody', writable: true, prefix: 'l' },
  { name: 'events', audience: 'everybody', writable: true, prefix: 'ev' },
  { name: 'posts', audience: 'everybody', writable: true, prefix: 'p' },
  { name: 'pages', audience: 'everybody', writable: true, prefix: 'pg' },
  { name: 'membership_plans', audience: 'everybody', writable: true, prefix: 'plan' },
  { name: 'school', audience: 'everybody', writable: true, prefix: 'school', single: true },
  { name: 'appearance', audience: 'everybody', writable: true, prefix: 'appearance', single: true },
  { name: 'digital_products', audience: 'everybody', writable: true, prefix: 'dp' },
  { name: 'comments', audience: 'everybody', writable: false, prefix: 'cm', filter: COURSE },
  { name: 'forms', audience: 'everybody', writable: false, prefix: 'f' },
  { name: 'coupons', audience: 'members', writable: true, prefix: 'cp' },
  { name: 'members', audience: 'own rows', writable: true, prefix: 'm', refuseOthers: true },
  { name: 'students', audience: 'own rows', writable: true, prefix: 'st', refuseOthers: true },
  { name: 'orders', audience: 'own rows', writable: false, prefix: 'o' },
  { name: 'event_registrations', audience: 'own rows', writable: false, prefix: 'r' },
  { name: 'subscriptions', audience: 'own rows', writable: true, prefix: 'su' },
  { name: 'analytics', audience: 'own rows', writable: false, prefix: 'an' },
];
