import type { Lookup, OperatorAction } from './action.ts';
import { CLIENT_ACTIONS, CLIENT_LOOKUPS } from './clients.ts';
import { ASSERTION_ACTIONS, EVENT_ACTIONS, REGISTRATION_ACTIONS, STORE_ACTIONS } from './gate.ts';
import { GRANT_ACTIONS, GRANT_LOOKUPS } from './grants.ts';
import { KEY_ACTIONS, KEY_LOOKUPS } from './keys.ts';
import { MEMBER_ACTIONS, MEMBER_LOOKUPS } from './members.ts';

export const LOOKUPS: readonly Lookup[] = [...MEMBER_LOOKUPS, ...CLIENT_LOOKUPS, ...GRANT_LOOKUPS, ...KEY_LOOKUPS];

export const ACTIONS: readonly OperatorAction[] = [
  MEMBER_ACTIONS,
  CLIENT_ACTIONS,
  GRANT_ACTIONS,
  KEY_ACTIONS,
  EVENT_ACTIONS,
  STORE_ACTIONS,
  REGISTRATION_ACTIONS,
  ASSERTION_ACTIONS,
].flatMap((rows: Readonly<Record<string, OperatorAction>>) => Object.values(rows));
