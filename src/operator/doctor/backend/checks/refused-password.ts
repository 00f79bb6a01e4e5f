import { randomBytes } from 'node:crypto';
import { GatewayError } from '../../../../errors.ts';
import { failure, pass } from '../../finding.ts';
import { Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';
import { causeOf } from '../open-installation.ts';

/** For each way to sign in with a password on the gate's own page. */
export const REFUSED_PASSWORD = backendChecks((_, { login }) => login.shape === 'credentials', {
  async 'signin.refused'({ login }) {
    if (login.shape !== 'credentials') throw new Unavailable('members enter no password here');
    const username = `coursegate-doctor-${randomBytes(4).toString('hex')}`;
    const password = randomBytes(16).toString('hex');
    try {
      const verdict = await login.check({ username, password, address: '127.0.0.1' });
      if (verdict.kind === 'member') return failure('an invented name and password sign in a member');
      if (verdict.kind === 'slow_down') throw new Unavailable('the backend accepts no more attempts for now');
      return pass('refused as wrong');
    } catch (thrown) {
      if (thrown instanceof GatewayError) return failure(causeOf(thrown));
      throw thrown;
    }
  },
});
