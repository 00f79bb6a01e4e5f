import { GatewayError } from '../../errors.ts';
import { isSubject } from '../../oauth/subject.ts';
import type { Audit } from '../../operations/audit.ts';
import type { TryAssertions } from '../../upstream/assertion-trial.ts';
import type { CommandedBy } from './account-control.ts';

export type AssertionControl = ReturnType<typeof createAssertionControl>;

/** The operator's trial of assertions. Its answers say how backends reacted; they contain no assertion. */
export function createAssertionControl({ trial, audit }: { readonly trial: TryAssertions; readonly audit: Audit }) {
  return {
    /** Tries every upstream, as `member` or as a member that does not exist. Throws `invalid_request`. */
    async try(member: unknown, decision: CommandedBy) {
      if (member !== undefined && !isSubject(member))
        throw new GatewayError('invalid_request', { message: '"member" must be the ID of a member.' });
      audit({ action: 'assertions_tried', member, ...decision });
      return { trials: await trial(member) };
    },
  };
}
