import { asGatewayError } from '../errors.ts';
import { cleanValue } from './cleaning.ts';
import type { Check } from './json-schema.ts';
import type { Mapping } from './mapping.ts';
import type { Action, CallContext, Outcome } from './tool.ts';

interface Run {
  readonly name: string;
  readonly act: Action;
  readonly checkInput: Check;
  /** undefined: the result may be anything. */
  readonly checkOutput: Check | undefined;
  readonly mapping: Mapping;
  readonly longestText: number;
  readonly largestResult: number;
  readonly onError: (error: unknown) => void;
}

/**
 * One call of a tool, from its arguments to what a model may read: held to the input schema before anything is asked,
 * brought into the tool's own form, cleaned, bounded, and held to the output schema. Never throws.
 */
export function runner(run: Run): Action {
  const { name, act, checkInput, checkOutput, mapping, longestText, largestResult, onError } = run;
  return async (input, context) => {
    const flaw = checkInput(input);
    if (flaw !== undefined) return { kind: 'failed', message: `The arguments cannot be used: ${flaw}.` };
    let outcome: Outcome;
    try {
      outcome = await act(input, context);
    } catch (thrown) {
      return failure(thrown, context, onError);
    }
    if (outcome.kind === 'failed') return outcome;
    const value = cleanValue(mapping(outcome.value), longestText);
    if (Buffer.byteLength(JSON.stringify(value) ?? '') > largestResult) {
      return { kind: 'failed', message: 'The result is too long to be read at once. Ask for fewer, or for one.' };
    }
    const misfit = checkOutput?.(value);
    if (misfit === undefined) return { ...outcome, value };
    onError(new Error(`The result of the tool ${name} does not fit its output schema: ${misfit}`));
    return unusable(context);
  };
}

function unusable({ requestId }: CallContext): Outcome {
  return { kind: 'failed', message: `The school gave an answer that cannot be used. (request ${requestId})` };
}

function failure(thrown: unknown, { signal, requestId }: CallContext, onError: (error: unknown) => void): Outcome {
  if (signal.aborted) return { kind: 'failed', message: 'This took too long. Try again later.' };
  const { code, message } = asGatewayError(thrown);
  if (code === 'invalid_request') return { kind: 'failed', message };
  if (code === 'internal') onError(thrown);
  return { kind: 'failed', message: `${message} (request ${requestId})` };
}
