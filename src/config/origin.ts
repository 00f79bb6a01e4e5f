import { z } from 'zod';

/** One exact string without a path or trailing slash: it is the issuer, the audience and the base of every URL. */
export const origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must be an origin such as https://school.example',
  )
  .refine((text) => !URL.canParse(text) || new URL(text).protocol === 'https:' || isLoopback(new URL(text).hostname), {
    message: 'must be https, except on localhost',
  });

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '127.0.0.1' || host === '[::1]';
}
