import type { ToolConfig } from '../config/schema.ts';
import type { Input, Operation } from './openapi-operations.ts';

/** What a proposed tool has so that a list which is too long is told in parts. */
interface ProposedPaging {
  readonly inputs: readonly Input[];
  readonly paging: NonNullable<ToolConfig['paging']>;
  /** Where the answer is a bare list, which has no place for a cursor. */
  readonly result?: { readonly items: '' };
}

/** Names by which APIs take where to go on. */
const WHERE = /^(page|cursor|after|starting[._-]?after|(page|next|continuation)[._-]?(token|cursor))$/i;
/** Names by which they say it. */
const NEXT = /^(next([._-]?(page|token|cursor))?([._-]?(token|cursor))?|cursor)$/i;
const MORE = /^(has[._-]?)?(more|next[._-]?page)$/i;

/** An input that only ever holds our cursors, for a list whose API takes none: it never reaches the API. */
const OWN: Input = {
  name: 'cursor',
  required: false,
  schema: { type: 'string', pattern: '^part[.]', description: 'Where to go on, from the result of the same call.' },
};

/**
 * Proposes how the list that an operation answers with is told in parts: by the input that takes a page or a cursor, or
 * by one of our own. Out: it, and the inputs with that one; undefined where no list is known of.
 */
export function proposePaging({ method, inputs, list }: Operation): ProposedPaging | undefined {
  if (method !== 'GET' || list === undefined) return undefined;
  const theirs = inputs.find((input) => WHERE.test(input.name) && takesAnyText(input));
  const argument = theirs?.name ?? OWN.name;
  if (theirs === undefined && inputs.some((input) => input.name === argument)) return undefined;
  const beside = list.beside.filter((name) => name !== list.name);
  const next = beside.find((name) => NEXT.test(name)) ?? 'next';
  const more = beside.find((name) => name !== next && MORE.test(name));
  return {
    inputs:
      theirs === undefined ? [...inputs, OWN] : inputs.map((input) => (input === theirs ? takingText(input) : input)),
    paging: { of: list.name ?? 'items', argument, next, ...(more === undefined ? {} : { more }) },
    ...(list.name === undefined ? { result: { items: '' } } : {}),
  };
}

function takesAnyText({ schema, required }: Input): boolean {
  return !required && !('enum' in schema) && ['string', 'integer', 'number'].includes(String(schema.type));
}

/** A cursor of ours has its own length and form, and is a text where the API counts pages. */
function takingText({ schema, ...input }: Input): Input {
  const { maxLength: _, pattern: __, format: ___, type, ...kept } = schema;
  return { ...input, schema: { ...kept, type: type === 'string' ? type : [type, 'string'] } };
}
