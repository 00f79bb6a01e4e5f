import type { ToolConfig } from '../config/schema.ts';
import type { ApiOperation, OperationInput } from './openapi-operations.ts';

/** What is added to a proposed tool so that long lists are split into pages. */
interface ProposedPaging {
  readonly inputs: readonly OperationInput[];
  readonly paging: NonNullable<ToolConfig['paging']>;
  /** Set if the response is a bare list, which has no place for a cursor. */
  readonly result?: { readonly items: '' };
}

/** Common names of parameters that take a page or a cursor. */
const WHERE = /^(page|cursor|after|starting[._-]?after|(page|next|continuation)[._-]?(token|cursor))$/i;
/** Common names of response members that contain the next cursor, or say whether there is more. */
const NEXT = /^(next([._-]?(page|token|cursor))?([._-]?(token|cursor))?|cursor)$/i;
const MORE = /^(has[._-]?)?(more|next[._-]?page)$/i;

/** An input for the gate's own cursors, if the API takes none. It is never sent to the API. */
const OWN: OperationInput = {
  name: 'cursor',
  required: false,
  schema: { type: 'string', pattern: '^part[.]', description: 'Where to continue, from the result of the same call.' },
};

/**
 * Proposes how to split the list in an operation's response into pages, using the input that takes a page or a cursor,
 * or an added one. Returns it with the inputs of the tool; undefined if no list is known.
 */
export function proposePaging({ method, inputs, list }: ApiOperation): ProposedPaging | undefined {
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

function takesAnyText({ schema, required }: OperationInput): boolean {
  return !required && !('enum' in schema) && ['string', 'integer', 'number'].includes(String(schema.type));
}

/**
 * Lets an input take the gate's cursors as well, which have their own length and format and are strings even if the
 * API uses page numbers.
 */
function takingText({ schema, ...input }: OperationInput): OperationInput {
  const { maxLength: _, pattern: __, format: ___, type, ...kept } = schema;
  return { ...input, schema: { ...kept, type: type === 'string' ? type : [type, 'string'] } };
}
