import { z } from 'zod';
import { sessionLogin } from './session-login.ts';

/** How members sign in. */
export const login = z.discriminatedUnion('kind', [sessionLogin]);
