import { z } from 'zod';

/** https, or http on this machine. */
export const secureUrl = z
  .string()
  .regex(
    /^(https:\/\/[^\s/?#@]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?)(\/[^\s?#]*)?$/i,
    'must be an https URL without ? and # (http only on this machine: localhost, 127.0.0.1, [::1])',
  )
  .refine((given) => URL.canParse(given), 'must be a URL');
