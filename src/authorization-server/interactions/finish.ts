import type { InteractionResults } from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { GateEvent } from '../../events/event.ts';
import { PageFailure } from '../pages/page-failure.ts';
import { redirect } from '../pages/pages.ts';
import { UnitOfWork, withinUnitOfWork } from '../unit-of-work.ts';
import type { InteractionParts } from './interaction-parts.ts';
import { auditPending, type Pending } from './pending.ts';

/**
 * Commits the result of a step together with the event that reports it to the backend, audits it, and sends the
 * browser on. Throws PageFailure `invalid_request` when the interaction is over: of two answers given at the same time,
 * the second one meets this.
 */
export async function finish(
  parts: InteractionParts,
  pending: Pending,
  result: InteractionResults,
  audited: Parameters<typeof auditPending>[2],
  event?: GateEvent,
): Promise<void> {
  const { provider, store, outbox } = parts;
  const { request, response } = pending.exchange;
  try {
    // A refusal replaces the result of earlier steps; any other result adds to it.
    const mergeWithLastSubmission = !('error' in result);
    const unit = new UnitOfWork(store);
    // If the interaction has ended meanwhile, the commit fails: writing its result would bring it back, for a second code.
    const { jti } = pending.interaction;
    unit.consume('Interaction', jti);
    unit.add({ op: 'delete', kind: 'Interaction', id: jti });
    const next = await withinUnitOfWork(unit, () =>
      provider().interactionResult(request, response, result, { mergeWithLastSubmission }),
    );
    for (const entry of event === undefined ? [] : outbox.entries(event)) unit.put(entry);
    if (!(await unit.commit())) throw new errors.SessionNotFound('interaction session not found');
    auditPending(parts, pending, audited);
    redirect(response, next);
  } catch (thrown) {
    if (!(thrown instanceof errors.SessionNotFound)) throw thrown;
    throw new PageFailure('invalid_request', 'failure.interaction_over');
  }
}
