import type { ToolInput } from './argument-template.ts';
import { KEY_ARGUMENT, takeKey } from './idempotency-key.ts';
import type { Once } from './once.ts';
import { failure, unfit } from './run-tool.ts';
import { CANCELLED, type CallContext, type Tool, type ToolOutcome } from './tool.ts';

export interface CallParts {
  readonly once: Once;
  /** Seconds. Progress restarts it, until `longestCall`. */
  readonly deadline: number;
  readonly longestCall: number;
  /** Called with errors that are not shown to clients. */
  readonly onError: (error: unknown) => void;
}

/** The caller of a tool, and when it is no longer waiting. */
interface Caller extends Omit<CallContext, 'signal'> {
  readonly gone: AbortController;
}

/** Runs a tool within its deadline, and only once for each idempotency key. Never rejects. */
export async function callTool(
  { once, deadline, longestCall, onError }: CallParts,
  tool: Tool,
  given: ToolInput,
  meta: unknown,
  { gone, onLine, ...caller }: Caller,
): Promise<ToolOutcome & { readonly repeated?: true }> {
  const asked = tool.takesKey ? takeKey(given, meta) : { key: undefined, input: given };
  if ('flaw' in asked) return unfit(asked.flaw);
  const { key, input } = asked;
  // A client that sends a key will repeat the call if the connection is lost, so the call continues without it.
  const ended = key === undefined ? gone : new AbortController();
  const { signal } = ended;
  const timer = setTimeout(() => ended.abort(), Math.ceil(deadline * 1000));
  const longest = performance.now() + (longestCall - deadline) * 1000;
  // A replica that waits for a call with a key must know how long it can take.
  const mayContinue = () => key === undefined && performance.now() < longest;
  const context: CallContext = {
    ...caller,
    signal,
    onLine:
      onLine &&
      ((line) => {
        const isProgress = onLine(line);
        if (isProgress && mayContinue()) timer.refresh();
        return isProgress;
      }),
  };
  if (key !== undefined)
    gone.signal.addEventListener('abort', () => gone.signal.reason === CANCELLED && ended.abort(CANCELLED));
  try {
    if (key === undefined) return await tool.call(input, context);
    const { principal } = context;
    if (principal.kind !== 'member') return unfit(`${KEY_ARGUMENT} is for members`);
    const call = { member: principal.sub, clientId: principal.clientId, tool: tool.name, key, input, signal };
    return await once(call, () => tool.call(input, context));
  } catch (thrown) {
    return failure(thrown, context, onError);
  } finally {
    clearTimeout(timer);
  }
}
