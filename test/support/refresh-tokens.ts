import { createSecretKey } from 'node:crypto';
import { refreshTokens } from '../../src/authorization-server/refresh-token.ts';

/** Refresh tokens for tests and benchmarks without a gate. */
export const TEST_TOKENS = refreshTokens(createSecretKey(Buffer.alloc(32, 7)));
