import { hash } from 'node:crypto';
import type { ToolConfig } from '../config/schema.ts';
import { valueAt } from '../config/tree.ts';
import type { Audit } from '../operations/audit.ts';
import type { Clock, Store } from '../storage/store.ts';
import { storedApprovals } from './approvals.ts';
import { canonicalJson } from './once.ts';
import { failure, unfit } from './run-tool.ts';
import { type Action, memberOf, type ToolOutcome } from './tool.ts';

/** Where calls are held, and what their approval is bound to beside the tool's own settings. */
export interface Holding {
  readonly store: Store;
  readonly clock: Clock;
  readonly audit: Audit;
  /** The address of the page on which the member decides. */
  readonly pageOf: (id: string) => string;
  /** Everything else that decides what tools do. */
  readonly behind: unknown;
  /** Called with errors that are not shown to clients. */
  readonly onError: (error: unknown) => void;
}

/** More than a member reads before they approve. In characters of JSON. */
const LONGEST = 16_000;

/** Holds each call of a tool until its member has approved exactly that call, and then makes it once. */
export function createHold({ store, clock, audit, pageOf, behind, onError }: Holding) {
  const approvals = storedApprovals(store, clock);
  return (config: ToolConfig, act: Action): Action => {
    const { name: tool, title } = config;
    const version = hash('sha256', canonicalJson([config, behind]), 'base64url');
    const shown = { title, labels: labelsOf(config) };
    return async (input, context) => {
      const { sub: member, clientId, grantId } = memberOf(context.principal);
      if (canonicalJson(input).length > LONGEST) return unfit('they are too long for the member to read and approve');
      const call = { member, clientId, grantId, tool, version, input };
      const admitted = await approvals.admit(call, shown).catch((thrown: unknown) => failure(thrown, context, onError));
      if (admitted.kind === 'failed') return { ...admitted, undone: true };
      const report = (action: 'approval_requested' | 'approval_used') =>
        audit({ action, member, clientId, grantId, used: { kind: 'tool', name: tool }, approval: admitted.id });
      if (admitted.kind === 'approved') {
        report('approval_used');
        return act(input, context);
      }
      const expiresAt = new Date(admitted.expiresAt * 1000).toISOString();
      if (admitted.kind === 'declined') return notDone(declined(expiresAt));
      if (admitted.isNew) report('approval_requested');
      const url = pageOf(admitted.id);
      return { ...notDone(waiting(url, expiresAt)), approval: { url, expiresAt } };
    };
  };
}

const notDone = (message: string) => ({ kind: 'failed', message, undone: true }) satisfies ToolOutcome;

const waiting = (url: string, until: string) =>
  `Nothing was done yet: the member has to approve this call first. Give them this link, which shows it to them: ${url} ` +
  `Once they have approved it there, make the same call with the same arguments. The approval is for one call, and the link is valid until ${until}.`;

const declined = (until: string) =>
  `The member declined this call, and nothing was done. Do not work around it. It can be asked for again after ${until}, if they want it.`;

/** What the operator calls the arguments, by name: the `title` in their schemas. */
function labelsOf({ input }: ToolConfig): Readonly<Record<string, string>> {
  const titles = Object.entries(valueAt(input, ['properties']) ?? {}).map(
    ([name, schema]) => [name, valueAt(schema, ['title'])] as const,
  );
  return Object.fromEntries(titles.filter((one): one is readonly [string, string] => typeof one[1] === 'string'));
}
