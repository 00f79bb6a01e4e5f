import { type ClaimsConfig, LARGEST_CLAIM } from '../../config/claims.ts';
import type { Member } from '../connector.ts';
import type { ValueAt } from './answer.ts';

/** Reads the configured claims from an answer. Values that are missing, null or too large are left out. */
export function readClaims(claims: ClaimsConfig, valueAt: ValueAt): Member['claims'] {
  const found = Object.entries(claims).flatMap(([name, { from }]) => {
    const value = from === undefined ? undefined : valueAt(from);
    const missing = value === undefined || value === null;
    return missing || Buffer.byteLength(JSON.stringify(value)) > LARGEST_CLAIM ? [] : [[name, value] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
