import { z } from 'zod';
import { RECHECK } from '../config/constants.ts';
import { pointer, text } from '../config/name.ts';
import { memberQuestion } from '../config/recheck.ts';
import { duration } from '../config/units.ts';
import { LONGEST_ROLE } from './settings-rule.ts';

const roleName = text.max(LONGEST_ROLE);

/**
 * How the gate asks the backend what a member is, and where the answer has it. Without a question of its own, it is the
 * question of `login.recheck`.
 */
export const roles = z
  .strictObject({
    ...memberQuestion,
    upstream: memberQuestion.upstream.optional(),
    path: memberQuestion.path.optional(),
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
  .refine(({ upstream, path, key }) => (upstream === undefined ? (path ?? key) === undefined : path !== undefined), {
    message:
      'must have upstream and path, or neither of them and no key: then the answer of login.recheck has the roles',
  })
  .transform((given) => ({ ...given, ...RECHECK }));

export type RolesConfig = z.output<typeof roles>;
