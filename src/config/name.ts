import { z } from 'zod';

/** A name given by the operator, for other settings to refer to. */
export const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'must be a name of letters, digits, - and _');

/** A reference to one of the services behind the gate. */
export const upstreamName = name.meta({ description: 'A name in `upstreams`.' });
