import { z } from 'zod';
import { TOKEN } from '../../config/name.ts';
import { capturingProblem, pattern } from '../../config/pattern.ts';
import { backendPath } from '../../config/urls.ts';
import { detailsOf, eachDetail } from '../../oauth/member-details.ts';

const FORMATS = ['json', 'header', 'html'] as const;
export type AnswerFormat = (typeof FORMATS)[number];

/** How the response of a backend is read. */
export const answerFormat = z.enum(FORMATS).default('json');

const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** Says why a selector is not valid for a format; undefined when it is. */
function selectorProblem(format: AnswerFormat, selector: string): string | undefined {
  switch (format) {
    case 'json':
      return POINTER.test(selector) ? undefined : 'must be a JSON pointer such as /user/id';
    case 'header':
      return TOKEN.test(selector) ? undefined : 'must be a header name';
    case 'html':
      return capturingProblem(selector);
  }
}

type Check = { addIssue(issue: { code: 'custom'; path: PropertyKey[]; message: string }): void };

/** Reports each selector that is not valid for the format. Absent ones are ignored. */
export function checkSelectors(
  format: AnswerFormat,
  selectors: readonly (readonly [path: readonly string[], selector: string | undefined])[],
  context: Check,
): void {
  for (const [path, selector] of selectors) {
    const problem = selector === undefined ? undefined : selectorProblem(format, selector);
    if (problem !== undefined) context.addIssue({ code: 'custom', path: [...path], message: problem });
  }
}

const anonymous = z.strictObject({
  statuses: z.array(z.int().min(400).max(499)).default([401, 403]),
  redirects: z.union([z.boolean(), pattern], 'must be true, false or a pattern').default(true),
  body: pattern.optional(),
  at: z.string().optional(),
  values: z.array(z.union([z.null(), z.boolean(), z.number(), z.string()])).default([]),
  absent: z.boolean().default(false),
});

/** The request that asks a backend who is signed in, and how its response is read. */
export const whoami = z
  .strictObject({
    path: backendPath,
    format: answerFormat,
    subject: z.string().optional(),
    ...eachDetail((_, { noun }) =>
      z.string().optional().describe(`Where the ${noun} of the member is. If omitted, apps get none.`),
    ),
    emailVerified: z.string().optional(),
    authTime: z.string().optional(),
    acr: z.string().optional(),
    version: z.string().optional(),
    anonymous: anonymous.prefault({}),
  })
  .superRefine((given, context) => {
    const { format, subject, emailVerified, authTime, acr, version } = given;
    if (format !== 'json' && subject === undefined)
      context.addIssue({ code: 'custom', path: ['subject'], message: `is missing: say where the id is in ${format}` });
    const fields = { subject, ...detailsOf(given), emailVerified, authTime, acr, version };
    checkSelectors(
      format,
      [
        ...Object.entries(fields).map(([key, selector]) => [[key], selector] as const),
        [['anonymous', 'at'], given.anonymous.at] as const,
      ],
      context,
    );
  })
  .transform(({ subject = '/id', ...rest }) => ({ ...rest, subject }));

export type WhoamiConfig = z.output<typeof whoami>;
