import { valueAt } from '../config/tree.ts';
import type { ToolInput } from './argument-template.ts';

/**
 * Idempotency key: an argument added to tools that change something, by which a repeated call is recognised. Tools
 * with their own argument of this name are left as they are.
 */
export const KEY_ARGUMENT = 'idempotencyKey';
/** The same key in `_meta`, for clients that set it themselves instead of leaving it to the model. */
const KEY_META = 'coursegate/idempotencyKey';

const KEY = /^[!-~]{8,200}$/;

export const KEY_SCHEMA = {
  type: 'string',
  minLength: 8,
  maxLength: 200,
  pattern: '^[!-~]+$',
  description:
    'Ensures that the change happens only once. Use a new value for each new request, and the same value again to retry a call that got no response.',
} as const;

/** Separates the key from the arguments of a call, or returns what is wrong with it. */
export function takeKey(
  { [KEY_ARGUMENT]: argument, ...input }: ToolInput,
  meta: unknown,
): { readonly key: string | undefined; readonly input: ToolInput } | { readonly flaw: string } {
  const beside = valueAt(meta, [KEY_META]);
  if (argument !== undefined && beside !== undefined && argument !== beside) {
    return { flaw: `${KEY_ARGUMENT} differs from ${KEY_META} in _meta` };
  }
  const key = argument ?? beside;
  if (key === undefined) return { key, input };
  if (typeof key !== 'string' || !KEY.test(key)) {
    return { flaw: `${KEY_ARGUMENT} must be 8 to 200 visible characters of ASCII` };
  }
  return { key, input };
}
