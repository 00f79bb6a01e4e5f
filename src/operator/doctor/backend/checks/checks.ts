import type { BackendCheck } from '../check.ts';
import { ASSERTIONS } from './assertions.ts';
import { CLIENT_DOCUMENTS } from './client-documents.ts';
import { CONNECTORS } from './connectors.ts';
import { DOCUMENTS } from './documents.ts';
import { GATE } from './gate.ts';
import { MEMBER } from './member.ts';
import { RECHECK } from './recheck.ts';
import { SIGN_IN_PAGE } from './sign-in-page.ts';
import { UPSTREAMS } from './upstreams.ts';
import { WHOAMI } from './whoami.ts';

/** Every check from the gate's side, in the order of the report. */
export const BACKEND_CHECKS: readonly BackendCheck[] = [
  ...GATE,
  ...DOCUMENTS,
  ...CLIENT_DOCUMENTS,
  ...UPSTREAMS,
  ...WHOAMI,
  ...RECHECK,
  ...SIGN_IN_PAGE,
  ...CONNECTORS,
  ...ASSERTIONS,
  ...MEMBER,
];
