import { loginChecks } from '../../operator/doctor/backend/check.ts';
import { failure, pass } from '../../operator/doctor/finding.ts';

export const WEBHOOK = loginChecks('webhook', {
  async 'signin.unsigned'({ config: { login }, send }) {
    const answer = await send({
      upstream: login.upstream,
      method: 'POST',
      path: login.path,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'coursegate-doctor', password: '', address: '127.0.0.1' }),
    });
    const signed = answer.headers['coursegate-signature'] !== undefined;
    if (answer.status >= 400 && answer.status < 500 && !signed) return pass(`${answer.status}`);
    return failure(`it answers ${answer.status}${signed ? ', signed,' : ''} to a request without a signature`);
  },
});
