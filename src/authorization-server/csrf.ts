import { createHmac } from 'node:crypto';

/** A form's CSRF token: bound to one interaction and to the member it was shown to ('' for nobody). */
export function csrfToken(key: Buffer, uid: string, member: string): string {
  return createHmac('sha256', key).update(`csrf\0${uid}\0${member}`).digest('base64url');
}
