import { z } from 'zod';
import { duration } from './units.ts';

/** Where an upstream's own OpenAPI document is found. */
export const upstreamApi = z
  .strictObject({
    file: z.string().min(1).optional().meta({ description: 'A file, JSON or YAML. Read at start.' }),
    path: z
      .string()
      .regex(/^\/[^\s?#\\]*$/, 'must be a path such as /openapi.json, without ?, # or \\')
      .optional()
      .meta({ description: 'A path at the upstream that answers with JSON. Asked as nobody, when first needed.' }),
    refresh: duration.prefault('10m').meta({ description: 'How long what `path` answered is taken to be so.' }),
  })
  .refine(({ file, path }) => (file === undefined) !== (path === undefined), 'must have one of file, path');
