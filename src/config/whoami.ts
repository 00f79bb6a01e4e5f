import { z } from 'zod';
import { capturingProblem, pattern } from './pattern.ts';

const FORMATS = ['json', 'header', 'html'] as const;
export type AnswerFormat = (typeof FORMATS)[number];

/** How the answer of a backend is read. */
export const answerFormat = z.enum(FORMATS).default('json').meta({
  description:
    'How the answer is read: json by JSON pointers (RFC 6901), header by the names of response header fields, html by regular expressions (RE2) with one group each.',
});

const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** In: how an answer is read, and where a value is said to be in it. Out: why it cannot be there. */
function selectorProblem(format: AnswerFormat, selector: string): string | undefined {
  switch (format) {
    case 'json':
      return POINTER.test(selector) ? undefined : 'must be a JSON pointer such as /user/id';
    case 'header':
      return FIELD_NAME.test(selector) ? undefined : 'must be the name of a header field';
    case 'html':
      return capturingProblem(selector);
  }
}

type Check = { addIssue(issue: { code: 'custom'; path: PropertyKey[]; message: string }): void };

/** Checks the places that hold a selector. In: the format, and each selector with its path; an absent one is passed over. */
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
  statuses: z.array(z.int().min(400).max(499)).default([401, 403]).meta({
    description: 'Statuses that mean nobody is signed in.',
  }),
  redirects: z.union([z.boolean(), pattern], 'must be true, false or a pattern').default(true).meta({
    description:
      'Whether a redirect means nobody is signed in: any, none, or those whose Location matches this pattern (RE2).',
  }),
  body: pattern.optional().meta({ description: 'A pattern (RE2) in the body that means nobody is signed in.' }),
  at: z.string().optional().meta({ description: 'Where the value is that `values` speaks of. Left out: at subject.' }),
  values: z
    .array(z.union([z.null(), z.boolean(), z.number(), z.string()]))
    .default([])
    .meta({ description: 'Values there that mean nobody is signed in, such as null or 0.' }),
  absent: z.boolean().default(false).meta({
    description:
      'Whether nothing being there means so too. An answer that lost its form then looks like nobody, not like a failure.',
  }),
});

/** What a backend is asked to learn who is signed in, and how its answer is read. */
export const whoami = z
  .strictObject({
    path: z
      .string()
      .regex(/^\/[\x21-\x7E]*$/, 'must begin with /')
      .meta({ description: 'What is asked, with GET.' }),
    format: answerFormat,
    subject: z.string().optional().meta({ description: 'Where the id of the member is. Left out, for json: /id.' }),
    email: z
      .string()
      .optional()
      .meta({ description: 'Where the email of the member is. Left out, apps are told none.' }),
    name: z.string().optional().meta({ description: 'Where the name of the member is. Left out, apps are told none.' }),
    authTime: z.string().optional().meta({
      description: 'When the member signed in, Unix seconds: makes max_age exact.',
    }),
    acr: z.string().optional().meta({ description: 'How the member signed in (OpenID Connect acr).' }),
    version: z.string().optional().meta({
      description:
        'A value that changes when all that the member let in must end: a new password, a suspension. Any text or whole number.',
    }),
    anonymous: anonymous.prefault({}).meta({ description: 'What means that nobody is signed in.' }),
  })
  .superRefine((given, context) => {
    const { format, subject, email, name, authTime, acr, version } = given;
    if (format !== 'json' && subject === undefined) {
      context.addIssue({ code: 'custom', path: ['subject'], message: `must say where the id is in ${format}` });
    }
    const fields = { subject, email, name, authTime, acr, version };
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
