import type { PrepareOperation } from '../account/prepared-operation.ts';
import { SESSION_OVER } from '../oauth/challenge.ts';
import { ACCOUNT_SCOPE } from '../oauth/scope.ts';
import { type BuiltAction, CANCELLED, MUST_SIGN_IN, memberOf } from './tool.ts';

/**
 * Creates an action that runs a document of the Account API for the token's member. Returns a mistake if the document
 * is invalid or its variables do not match `inputs`, the names of the tool's inputs.
 */
export function graphqlAction(
  document: string,
  inputs: { readonly all: readonly string[]; readonly required: readonly string[] },
  prepare: PrepareOperation,
): BuiltAction | { readonly mistake: string } {
  const operation = prepare(document);
  if ('mistakes' in operation) return { mistake: operation.mistakes.join('; ') };
  const { variables, readOnly } = operation;
  const unused = inputs.all.find((name) => !variables.has(name));
  if (unused !== undefined) return { mistake: `has no variable $${unused} for the input of that name` };
  const open = [...variables].find(([name, { required }]) => required && !inputs.required.includes(name));
  if (open !== undefined) return { mistake: `needs $${open[0]}: name it in input.required` };
  const filled = [...variables.keys()].find((name) => !inputs.all.includes(name));
  if (filled !== undefined) return { mistake: `has a variable $${filled} that is not an input` };

  return {
    readOnly,
    scopes: [ACCOUNT_SCOPE, ...operation.missing(new Set())],
    async act(input, { principal, signal, onLine }) {
      const result = await operation.run(memberOf(principal), input, signal, onLine);
      // What has arrived is of no use to a client that has cancelled.
      if (signal.reason === CANCELLED) throw CANCELLED;
      if (result === SESSION_OVER) return MUST_SIGN_IN;
      const { data, errors } = result;
      if (data === undefined || Object.values(data).every((value) => value === null)) {
        return { kind: 'failed', message: errors[0]?.message ?? 'There is nothing to show.' };
      }
      return { kind: 'value', value: data, incomplete: placesOf(errors) };
    },
  };
}

/** The fields that could not be read, each once, by their names in the document. At most ten. */
function placesOf(errors: readonly { readonly path?: readonly (string | number)[] | undefined }[]): readonly string[] {
  const names = errors.map(({ path = [] }) => path.filter((step) => typeof step === 'string').join('.'));
  return [...new Set(names)].filter((name) => name !== '').slice(0, 10);
}
