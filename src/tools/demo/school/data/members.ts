import { DAY } from './time.ts';

/** A member in the school's records. */
export interface Member {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly joinedAt: number;
}

/** The demo's sign-in passwords, by member id. They are hashed when the school starts. */
export const DEMO_PASSWORDS: Readonly<Record<string, string>> = { 'm-1001': 'student', 'm-1002': 'other' };

/** The two members of the demo. `today` is midnight in Unix seconds. */
export function buildMembers(today: number): readonly [Member, Member] {
  return [
    { id: 'm-1001', email: 'student@example.com', name: 'Sam Student', joinedAt: today - 790 * DAY },
    { id: 'm-1002', email: 'other@example.com', name: 'Olu Other', joinedAt: today - 640 * DAY },
  ];
}
