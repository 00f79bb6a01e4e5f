import { z } from 'zod';
import { RECHECK } from '../config/constants.ts';
import { pointer, text } from '../config/name.ts';
import { memberQuestion } from '../config/recheck.ts';
import { duration } from '../config/units.ts';
import { LONGEST_ROLE } from './settings-rule.ts';

const roleName = text.max(LONGEST_ROLE);

/** How the gate asks the backend what a member is, and where the answer has it. */
export const roles = z
  .strictObject({
    ...memberQuestion,
    interval: duration.prefault('60s'),
    school: pointer.optional(),
    courses: pointer.optional(),
    course: pointer.default('/course'),
    role: pointer.default('/role'),
    names: z.record(roleName, roleName).default({}),
  })
  .refine(({ school, courses }) => school !== undefined || courses !== undefined, {
    message: 'must have school, courses or both: where the answer has the roles',
  })
  .transform((given) => ({ ...given, ...RECHECK }));

export type RolesConfig = z.output<typeof roles>;
