import { hash } from 'node:crypto';
import type { Hold } from '../approvals/hold.ts';
import { givenOf, LONGEST_SHOWN } from '../approvals/shown-body.ts';
import type { ToolConfig } from '../config/schema.ts';
import { valueAt } from '../config/tree.ts';
import { canonicalJson } from '../http/canonical-json.ts';
import { approvalQuestions, type QuestionParts } from './approval-questions.ts';
import { failure, unfit } from './run-tool.ts';
import { type Action, type BuiltAction, type FailedOutcome, memberOf, type ToolOutcome } from './tool.ts';

/** How calls are held, and what their approval is bound to beside the tool's own settings. */
interface Holding {
  readonly hold: Hold;
  /** Everything else that decides what tools do. */
  readonly behind: unknown;
  /** Called with errors that are not shown to clients. */
  readonly onError: (error: unknown) => void;
}

/** Holds each call of a tool until its member has approved exactly that call, and then makes it once. */
export function createHold({ hold, behind, onError }: Holding) {
  return (config: ToolConfig, { act, refusal: refusalOf }: BuiltAction, asking: QuestionParts): Action => {
    const { preview, titles } = approvalQuestions(config, asking);
    const { name, title, scopes } = config;
    const version = hash('sha256', canonicalJson([config, behind]), 'base64url');
    const labels = labelsOf(config);
    return async (input, context) => {
      const { sub: member, clientId, grantId } = memberOf(context.principal);
      const call = canonicalJson(input);
      if (call.length > LONGEST_SHOWN) return unfit('they are too long for the member to read and approve');
      const what = { used: { kind: 'tool', name } } as const;
      let refusal: FailedOutcome | undefined;
      const shown = async () => {
        refusal = await refusalOf?.(context);
        if (refusal !== undefined) return undefined;
        const [would, means] = await Promise.all([preview(input, context), titles(input, context)]);
        if (would !== undefined && 'kind' in would) refusal = would;
        else {
          const given = givenOf(input, labels).map((one) => ({ ...one, meaning: means.get(one.name) }));
          return { title, scopes, given, ...(would && { preview: would }) };
        }
        return undefined;
      };
      const held = await hold({ member, clientId, grantId, what, version, call }, shown).catch((thrown: unknown) =>
        failure(thrown, context, onError),
      );
      if (held.kind === 'failed') return { ...held, undone: true };
      // A call that the backend would refuse is refused before a member is asked.
      if (held.kind === 'unasked') return { ...(refusal as FailedOutcome), undone: true };
      if (held.kind === 'approved') return act(input, context);
      const { expiresAt } = held;
      if (held.kind === 'declined') return notDone(declined(expiresAt));
      return { ...notDone(waiting(held.url, expiresAt)), approval: { url: held.url, expiresAt } };
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
