import { z } from 'zod';
import { text } from './name.ts';

/** Where to find an upstream's own OpenAPI document. */
export const upstreamApi = z
  .strictObject({
    file: text.optional().describe('A JSON or YAML file, read at start.'),
    path: z
      .string()
      .regex(/^\/[^\s?#\\]*$/, 'must be a path such as /openapi.json, without ?, # or \\')
      .optional()
      .describe(
        'A path at the upstream that returns it as JSON. Requested without a member, when first needed, and again after ten minutes.',
      ),
  })
  .refine(({ file, path }) => (file === undefined) !== (path === undefined), 'must have one of file, path');
