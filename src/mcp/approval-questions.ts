import type { Given } from '../approvals/approvals.ts';
import { givenOf } from '../approvals/shown-body.ts';
import type { ToolConfig } from '../config/schema.ts';
import { isObject } from '../http/json-object.ts';
import { at } from '../http/json-pointer.ts';
import { placeholders, type ToolInput } from './argument-template.ts';
import { cleanValue } from './cleaning.ts';
import { type RouteParts, routeAction } from './route-action.ts';
import { shorten } from './shorten.ts';
import type { Action, CallContext, FailedOutcome } from './tool.ts';

/** How long a title may take, in milliseconds. Without it, the member reads the id alone. */
const TITLE_WAIT = 3000;
const LONGEST_TITLE = 200;
/** Of what the backend says a call would do: bytes in all, and characters of one text. */
const LONGEST_PREVIEW = 4000;
const LONGEST_TEXT = 1000;

/** What the questions of a tool are built with. */
export interface QuestionParts {
  readonly parts: RouteParts;
  readonly inputs: readonly string[];
  /** Takes each mistake in the tool. */
  readonly wrong: (path: readonly string[], message: string) => void;
}

/**
 * What the gate asks the backend about a call, as its member, before it asks the member: the questions that a tool names.
 * Reports what cannot be asked.
 */
export function approvalQuestions(
  { route, dryRun, titles, scopes }: ToolConfig,
  { parts, inputs, wrong }: QuestionParts,
) {
  const build = (
    path: readonly string[],
    request: string,
    names: readonly string[],
    query = {},
  ): Action | undefined => {
    const built = routeAction(request, parts, { inputs: names, scoped: scopes.length > 0, query });
    if (!('mistake' in built)) return built.act;
    wrong(path, built.mistake);
    return undefined;
  };
  if (dryRun !== undefined && route === undefined) wrong(['dryRun'], 'is only for tools with `route`');
  const rehearse = dryRun && route !== undefined ? build(['dryRun'], route, inputs, dryRun) : undefined;
  const readers = Object.entries(titles).flatMap(([name, where]) => {
    const path = ['titles', name];
    const [request = '', pointer = ''] = where.split('#');
    const names = placeholders(request);
    const unknown = [name, ...names].find((one) => !inputs.includes(one));
    if (unknown !== undefined) wrong(path, `uses "${unknown}", which is not an input`);
    if (!/^GET .*#\//.test(where))
      wrong(path, 'must be a GET with a pointer, such as "GET /api/v1/courses/{course}#/title"');
    const read = unknown === undefined ? build(path, request, names) : undefined;
    return read === undefined ? [] : [{ name, pointer, read }];
  });

  return {
    /** What the call would do; undefined if the backend does not say; a refusal if the call would be refused. */
    async preview(input: ToolInput, context: CallContext): Promise<readonly Given[] | FailedOutcome | undefined> {
      const outcome = await rehearse?.(input, context);
      if (outcome === undefined || outcome.kind === 'failed') return outcome;
      const short = await shorten(await cleanValue(outcome.value, LONGEST_TEXT), LONGEST_PREVIEW);
      const value = short?.value ?? undefined;
      return value === undefined ? undefined : givenOf(isObject(value) ? value : { '': value });
    },
    /** What arguments stand for, by name. One that cannot be read is left out. */
    async titles(input: ToolInput, context: CallContext): Promise<ReadonlyMap<string, string>> {
      const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TITLE_WAIT)]);
      const found = await Promise.all(
        readers.map(async ({ name, pointer, read }) => {
          if (input[name] === undefined) return [];
          const outcome = await read(input, { ...context, onLine: undefined, signal }).catch(() => undefined);
          const title = outcome?.kind === 'value' ? at(outcome.value, pointer, () => undefined) : undefined;
          return typeof title === 'string' ? [[name, title.slice(0, LONGEST_TITLE)] as const] : [];
        }),
      );
      return new Map(found.flat());
    },
  };
}
