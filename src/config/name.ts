import { z } from 'zod';

/** What an operator calls a thing that other settings speak of. */
export const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'must be a name of letters, digits, - and _');

/** One of the services behind the gate. */
export const upstreamName = name.meta({ description: 'A name in upstreams.' });
