import { randomBytes } from 'node:crypto';
import { createRequestStateCodec } from '@modelcontextprotocol/server';

/** Which round of questions a call is in. The client stores it between rounds, sealed. */
export const states = createRequestStateCodec<{ round: number }>({ key: randomBytes(32) });
