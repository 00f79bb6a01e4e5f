import { DAY } from './time.ts';

/** A member in the school's records. */
export type Member = ReturnType<typeof buildMembers>[number];

/** The two members of the demo. Their passwords are hashed when the school starts. `today` is midnight. */
export function buildMembers(today: number) {
  return [
    {
      id: 'm-1001',
      email: 'student@example.com',
      name: 'Sam Student',
      password: 'student',
      joinedAt: today - 790 * DAY,
    },
    { id: 'm-1002', email: 'other@example.com', name: 'Olu Other', password: 'other', joinedAt: today - 640 * DAY },
  ] as const;
}
