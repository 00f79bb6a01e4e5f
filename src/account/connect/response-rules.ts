import { AccountError } from '../errors.ts';
import type { DirectiveReader } from './directive-reader.ts';
import type { VariableValues } from './evaluate.ts';
import { MappingValueError } from './mapping-value.ts';
import type { Available } from './references.ts';
import { unusable } from './window.ts';

/** Which responses are successful, and what clients are told about the others. Set on a source or a connector. */
export type ResponseRules = ReturnType<typeof compileResponseRules>;

/** An upstream's response. `data` is null when it has no JSON body. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly data: unknown;
}

/** Compiles `isSuccess` and `errors` of @source or @connect. Mistakes are reported by the reader. */
export function compileResponseRules(reader: DirectiveReader, available: Available) {
  const names: Available = { ...available, status: 'value' };
  return {
    isSuccess: reader.compile(['isSuccess'], 'expression', names),
    message: reader.compile(['errors', 'message'], 'expression', names),
    extensions: reader.compile(['errors', 'extensions'], 'members', names),
  };
}

/**
 * Whether a response is successful according to the connector, or else its source. Defaults to any 2xx status.
 *
 * @throws {MappingValueError} when `isSuccess` fails on the response
 */
function isSuccess(rules: readonly ResponseRules[], answer: UpstreamAnswer, variables: VariableValues): boolean {
  const rule = rules.find((each) => each.isSuccess !== undefined)?.isSuccess;
  if (rule === undefined) return answer.status >= 200 && answer.status <= 299;
  return rule(answer.data, { ...variables, status: answer.status }) === true;
}

/** The data of a successful response; undefined for a 404 to a read without data. @throws {AccountError} for any other response */
export function usableData(
  { source, writes }: { readonly source: string; readonly writes: boolean },
  rules: readonly ResponseRules[],
  answer: UpstreamAnswer,
  variables: VariableValues,
): unknown {
  if (isSuccess(rules, answer, variables)) {
    if (answer.data !== undefined || (answer.status === 404 && !writes)) return answer.data;
    throw unusable(source, 'no JSON');
  }
  const hasRule = rules.some((each) => each.isSuccess !== undefined);
  if (answer.status === 404 && !hasRule && !writes) return undefined;
  throw refusalOf(rules, { ...answer, data: answer.data ?? null }, variables, writes);
}

const LONGEST_MESSAGE = 200;
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Error codes for failed writes whose mapping sets no code. */
const WRITE_CODES: Readonly<Record<number, 'NOT_FOUND' | 'BAD_USER_INPUT'>> = {
  400: 'BAD_USER_INPUT',
  404: 'NOT_FOUND',
  409: 'BAD_USER_INPUT',
  422: 'BAD_USER_INPUT',
};

/**
 * The error for an unsuccessful response. It contains nothing of the response except what the mapping selects, and of
 * that only scalars; text is truncated and stripped of control characters.
 */
function refusalOf(
  rules: readonly ResponseRules[],
  answer: UpstreamAnswer,
  variables: VariableValues,
  writes: boolean,
): AccountError {
  const all = { ...variables, status: answer.status };
  const selected = (of: 'message' | 'extensions') => {
    const evaluate = rules.find((each) => each[of] !== undefined)?.[of];
    try {
      return evaluate?.(answer.data, all);
    } catch (thrown) {
      if (thrown instanceof MappingValueError) return undefined;
      throw thrown;
    }
  };
  const { code: own, ...rest } = scalarsOf(selected('extensions'));
  const code = (writes ? WRITE_CODES[answer.status] : undefined) ?? 'UPSTREAM_ERROR';
  const text = selected('message');
  const message = typeof text === 'string' ? shortened(text) : '';
  return new AccountError(code, {
    ...(message === '' ? {} : { message }),
    details: { ...rest, ...(typeof own === 'string' && CODE.test(own) ? { code: own } : {}) },
  });
}

function scalarsOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return {};
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (typeof member === 'string') return [[name, shortened(member)]];
    return typeof member === 'number' || typeof member === 'boolean' ? [[name, member]] : [];
  });
  return Object.fromEntries(entries);
}

function shortened(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, LONGEST_MESSAGE);
}
