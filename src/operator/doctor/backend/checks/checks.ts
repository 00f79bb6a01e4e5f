import { BRIDGE } from '../../../../login/bridge/checks.ts';
import { OIDC } from '../../../../login/oidc/checks.ts';
import { SESSION } from '../../../../login/session/checks.ts';
import { SIGNED_TOKEN } from '../../../../login/signed-token/checks.ts';
import { WEBHOOK } from '../../../../login/webhook/checks.ts';
import type { BackendCheck } from '../check.ts';
import { ASSERTIONS } from './assertions.ts';
import { GATE } from './gate.ts';
import { MEMBER } from './member.ts';
import { RECHECK } from './recheck.ts';
import { REFUSED_PASSWORD } from './refused-password.ts';
import { SIGN_IN_PAGE } from './sign-in-page.ts';
import { TOOL_SERVERS } from './tool-servers.ts';
import { UPSTREAMS } from './upstreams.ts';

/** Every check from the gate's side, in the order of the report. */
export const BACKEND_CHECKS: readonly BackendCheck[] = [
  ...GATE,
  ...UPSTREAMS,
  ...TOOL_SERVERS,
  ...SESSION,
  ...RECHECK,
  ...SIGN_IN_PAGE,
  ...BRIDGE,
  ...REFUSED_PASSWORD,
  ...WEBHOOK,
  ...OIDC,
  ...SIGNED_TOKEN,
  ...ASSERTIONS,
  ...MEMBER,
];
