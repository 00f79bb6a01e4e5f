import { asGatewayError } from '../errors.ts';
import type { ToolInput } from './argument-template.ts';
import { cleanValue } from './cleaning.ts';
import type { ValueCheck } from './json-schema.ts';
import { fitsInto } from './json-size.ts';
import type { AnswerMapping } from './mapping.ts';
import { cursorAt, cutResult, type Paging, placeOf, type ResultPosition } from './paging.ts';
import type { HideNames } from './pseudonyms.ts';
import { shorten } from './shorten.ts';
import { type Action, CANCELLED, type CallContext, type FailedOutcome, type ToolOutcome } from './tool.ts';

export interface ToolRun {
  readonly name: string;
  readonly act: Action;
  readonly checkInput: ValueCheck;
  /** Undefined if results are not checked. */
  readonly checkOutput: ValueCheck | undefined;
  readonly mapping: AnswerMapping;
  /** Replaces names of people in results. */
  readonly hide: HideNames;
  /**
   * How results that are too long are split into pages. Undefined: they are shortened, and the rest cannot be
   * requested.
   */
  readonly paging: Paging | undefined;
  /** Whether the tool changes nothing. Only then may a call be repeated to get a smaller result. */
  readonly readOnly: boolean;
  /** Characters of one text in a result, and bytes of a whole result. */
  readonly longestText: number;
  readonly largestResult: number;
  /** Called with errors that are not shown to clients, such as a result that does not match its schema. */
  readonly onError: (error: unknown) => void;
}

/**
 * Runs one call of a tool: checks the arguments before anything is requested, maps the answer to the tool's result,
 * cleans it, limits its size and checks it against the output schema.
 */
export function runner(run: ToolRun): Action {
  const { name, act, checkInput, checkOutput, mapping, hide, paging, longestText, onError } = run;
  // A text that is split into pages is cleaned as a whole first, so that no page begins within something that is removed.
  const parted = paging && { name: paging.of, longest: LONGEST_WHOLE };
  return async (input, context) => {
    const flaw = checkInput(input);
    if (flaw !== undefined) return unfit(flaw);
    const begun = paging === undefined ? { input, place: START } : placeOf(input, paging);
    // The cursor is not one of this call, or contains a value that the tool does not accept.
    const inner = begun === undefined || begun.input === input ? undefined : checkInput(begun.input);
    if (begun === undefined || inner !== undefined)
      return unfit(`${paging?.argument} is not from a result of this call`);
    let outcome: ToolOutcome;
    try {
      outcome = await act(begun.input, context);
    } catch (thrown) {
      return failure(thrown, context, onError);
    }
    if (outcome.kind === 'failed') return outcome;
    const mapped = hide(mapping(outcome.value), context.principal);
    // Cleaned once, yielding to the event loop. The steps after it only look at as much as fits.
    const clean = await cleanValue(mapped, longestText, parted);
    const inFull = paging === undefined ? wholeResult(clean) : await partResult(clean, paging, begun.place, input);
    const result = inFull ?? (begun.place.from === 0 ? await shortResult(clean) : undefined);
    const misfit = result === undefined ? undefined : checkOutput?.(result.value);
    if (result !== undefined && misfit === undefined) return { ...outcome, ...result };
    // The full result is valid, but what fits of it is not.
    if (misfit === undefined || (inFull === undefined && checkOutput?.(clean) === undefined))
      return { kind: 'failed', message: run.readOnly ? TOO_LONG : TOO_LONG_BUT_DONE };
    onError(new Error(`The result of the tool ${name} does not fit its output schema: ${misfit}`));
    return unusable(context);
  };

  function fits(value: unknown): boolean {
    return fitsInto(run.largestResult, value);
  }

  function wholeResult(value: unknown): { readonly value: unknown } | undefined {
    return fits(value) ? { value } : undefined;
  }

  async function shortResult(value: unknown): Promise<{ readonly value: unknown; readonly rest: string } | undefined> {
    const short = await shorten(value, run.largestResult);
    if (short === undefined) return undefined;
    return { value: short.value, rest: `${SHORTENED}: ${short.left}. ${run.readOnly ? NO_REST : DONE}` };
  }

  async function partResult(clean: unknown, how: Paging, place: ResultPosition, input: ToolInput) {
    if (typeof clean !== 'object' || clean === null) return place.from === 0 ? wholeResult(clean) : undefined;
    const { of } = how;
    const whole = { ...clean } as Record<string, unknown>;
    const parted = whole[of];
    const pointed = (value: Readonly<Record<string, unknown>>, next: number) => ({
      ...value,
      [how.next]: cursorAt({ cursor: place.cursor, from: next }, input, how),
      ...(how.more === undefined ? {} : { [how.more]: true }),
    });
    const part = await cutResult(
      whole,
      how,
      place.from,
      (value, isLast) => {
        const text = value[of];
        if (typeof text === 'string' && text.length > longestText) return false;
        return fits(isLast ? value : pointed(value, LONGEST_WHOLE));
      },
      run.largestResult - Buffer.byteLength(JSON.stringify(pointed({}, LONGEST_WHOLE))),
    );
    if (part === undefined) return place.from === 0 && fits(whole) ? { value: whole } : undefined;
    const { next, shown, left } = part;
    const lost = left === undefined ? '' : `${SHORTENED}: ${left}.`;
    if (next === undefined) return { value: part.value, ...(lost === '' ? {} : { rest: lost }) };
    const value = pointed(part.value, next);
    if (checkInput({ ...input, [how.argument]: value[how.next] }) !== undefined) return undefined;
    const unit = Array.isArray(parted) ? '' : 'characters of ';
    const rest =
      `Cut here, since this is too long for one result: ${unit}${of} ${place.from + 1} to ${place.from + shown} of the ` +
      `${part.of} that were found. For the rest call ${name} again with the same arguments and ${how.argument}: ` +
      `${JSON.stringify(value[how.next])}`;
    return { value, rest: lost === '' ? rest : `${lost} ${rest}` };
  }
}

const START: ResultPosition = { cursor: undefined, from: 0 };
/** Characters of a text that is split into pages. The upstream's answer has a limit of its own. */
const LONGEST_WHOLE = 4_000_000;
const TOO_LONG = 'The result is too long to be read at once. Ask for fewer, or for one.';
const DONE = 'The change was made: do not repeat the call to read the rest.';
const TOO_LONG_BUT_DONE = `The result is too long to be read at once. ${DONE}`;
const SHORTENED = 'Shortened, since this is too long for one result. Left out';
const NO_REST =
  'The same call cannot continue from there: to read more, request less at once, if the arguments of this tool allow it. ' +
  'A next page that the result names begins after what was left out.';

/** The arguments are invalid, and nothing was requested. */
export function unfit(flaw: string): ToolOutcome {
  return { kind: 'failed', message: `The arguments cannot be used: ${flaw}.`, undone: true };
}

function unusable({ requestId }: CallContext): ToolOutcome {
  return { kind: 'failed', message: `The school sent an unusable response. (request ${requestId})` };
}

/** Converts an error to words for the model. */
export function failure(
  thrown: unknown,
  { signal, requestId }: Pick<CallContext, 'signal' | 'requestId'>,
  onError: (error: unknown) => void,
): FailedOutcome {
  if (signal.reason === CANCELLED) return { kind: 'failed', message: 'This call was cancelled.' };
  if (signal.aborted) return { kind: 'failed', message: 'This took too long. Try again later.' };
  const { code, message } = asGatewayError(thrown);
  if (code === 'invalid_request') return { kind: 'failed', message, undone: true };
  if (code === 'internal') onError(thrown);
  return { kind: 'failed', message: `${message} (request ${requestId})` };
}
