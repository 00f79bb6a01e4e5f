import { z } from 'zod';
import { size, sizeOrUnlimited } from './units.ts';

const atMost = (most: number, text: string) => size.pipe(z.number().min(1024, 'must be at least 1KiB').max(most, text));

/** What one request may cost, for all routes; a route may say otherwise for itself. */
export const limits = z.strictObject({
  requestBody: sizeOrUnlimited.prefault('10MiB').meta({
    description:
      'The most that a route takes of a request body: beyond it 413, and the upstream gets no whole request.',
  }),
  responseBody: sizeOrUnlimited.prefault('unlimited').meta({
    description:
      'The most that a route passes on of an answer: beyond it 502 or a cut connection. Event streams have no end and no limit.',
  }),
  headers: atMost(1024 ** 2, 'must be at most 1MiB')
    .prefault('16KiB')
    .meta({
      description: 'The most that the first line and the fields of a request take together: beyond it 431.',
    }),
  url: atMost(8192, 'must be at most 8KiB').prefault('8KiB').meta({
    description: 'The longest path and query: beyond it 414.',
  }),
});

/** What a route may say of its own. */
export const routeLimits = {
  bodyLimit: sizeOrUnlimited.optional().meta({
    description: 'The most that this route takes of a request body; left out, limits.requestBody.',
  }),
  responseLimit: sizeOrUnlimited.optional().meta({
    description: 'The most that this route passes on of an answer; left out, limits.responseBody.',
  }),
};
