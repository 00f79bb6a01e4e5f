import type { gatewayChecks } from '../facts.ts';
import { DESCRIPTION } from './described.ts';
import { ECHO } from './echo.ts';
import { FORGERY } from './forged.ts';
import { FRAMING } from './framing.ts';
import { CACHED, OPEN } from './open.ts';
import { FORWARDED_PATHS, PATHS } from './path.ts';
import { REFUSALS } from './refusal.ts';

/** Every attack through a gateway, in the order of the report. The last check looks at all answers before it. */
export const GATEWAY_CHECKS: ReturnType<typeof gatewayChecks> = [
  ...ECHO,
  ...FORGERY,
  ...DESCRIPTION,
  ...PATHS,
  ...FORWARDED_PATHS,
  ...FRAMING,
  ...OPEN,
  ...CACHED,
  ...REFUSALS,
];
