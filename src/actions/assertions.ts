import { GatewayError } from '../errors.ts';
import { isSubject } from '../oauth/subject.ts';
import { action } from './action.ts';

export const ASSERTION_ACTIONS = {
  /** Tries every upstream, as `member` or as a member that does not exist. The answers contain no assertion. */
  try: action({
    path: '/assertions/try',
    values: ['member'],
    async run({ assertions, audit }, { body: { member }, decision }) {
      if (member !== undefined && !isSubject(member))
        throw new GatewayError('invalid_request', { message: '"member" must be the ID of a member.' });
      audit({ action: 'assertions_tried', member, ...decision });
      return { trials: await assertions.try(member) };
    },
  }),
};
