import type { Row } from './data/notices.ts';

/** Who may read an area: everyone, any member, or each member only their own rows. */
type Audience = 'everybody' | 'members' | 'own rows';

/** One area of the REST service. */
export interface Area {
  readonly name: string;
  readonly audience: Audience;
  readonly writable: boolean;
  /** The prefix of new ids. */
  readonly prefix: string;
  /** The area is a single object, not a list. */
  readonly single?: true;
  /** Rows of others are refused with 403 instead of 404: the ids are member ids, so there is nothing to hide. */
  readonly refuseOthers?: true;
  /** The fields that the query parameter `search` searches. */
  readonly searched?: readonly (keyof Row & string)[];
  /** Query parameters that filter the list, with the fields that they are compared with. */
  readonly filters?: Readonly<Record<string, readonly (keyof Row & string)[]>>;
}

/** The table of areas below /api/v1. A new area is a line here and its rows in `seed.ts`. */
export const AREAS: readonly Area[] = [
  {
    name: 'courses',
    audience: 'everybody',
    writable: true,
    prefix: 'c',
    searched: ['title', 'summary'],
    filters: { lecturer: ['lecturer_id'] },
  },
  {
    name: 'curriculum',
    audience: 'everybody',
    writable: true,
    prefix: 'cu',
    filters: { course: ['course_slug', 'course_id'] },
  },
  { name: 'lecturers', audience: 'everybody', writable: true, prefix: 'l' },
  { name: 'events', audience: 'everybody', writable: true, prefix: 'ev' },
  { name: 'posts', audience: 'everybody', writable: true, prefix: 'p' },
  { name: 'pages', audience: 'everybody', writable: true, prefix: 'pg' },
  { name: 'membership_plans', audience: 'everybody', writable: true, prefix: 'plan' },
  { name: 'school', audience: 'everybody', writable: true, prefix: 'school', single: true },
  { name: 'appearance', audience: 'everybody', writable: true, prefix: 'appearance', single: true },
  { name: 'digital_products', audience: 'everybody', writable: true, prefix: 'dp' },
  { name: 'comments', audience: 'everybody', writable: false, prefix: 'cm', filters: { course: ['course_slug'] } },
  { name: 'forms', audience: 'everybody', writable: false, prefix: 'f' },
  { name: 'coupons', audience: 'members', writable: true, prefix: 'cp' },
  { name: 'members', audience: 'own rows', writable: true, prefix: 'm', refuseOthers: true },
  { name: 'students', audience: 'own rows', writable: true, prefix: 'st', refuseOthers: true },
  { name: 'orders', audience: 'own rows', writable: false, prefix: 'o' },
  { name: 'event_registrations', audience: 'own rows', writable: false, prefix: 'r' },
  { name: 'subscriptions', audience: 'own rows', writable: true, prefix: 'su' },
  { name: 'analytics', audience: 'own rows', writable: false, prefix: 'an' },
];
