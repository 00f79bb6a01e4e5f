import { counted } from '../http/amounts.ts';
import { type ActionContext, action, type Lookup } from './action.ts';

const CONFIGURED = '--config coursegate.yaml';

export const KEY_LOOKUPS: readonly Lookup[] = [{ path: '/keys', query: [], run: ({ keys }) => keys.list() }];

export const KEY_ACTIONS = {
  rotate: action({
    path: '/keys/rotate',
    switches: {
      now: 'even if a next key was published less than an hour ago and verifiers may not have it yet',
    },
    run: ({ keys }, { body, decision }) => keys.rotate(body.now === true, decision),
    ask: ({ unknownFor = 0 }) => ({
      title: 'Rotate the signing keys?',
      text: 'From now on the next keys sign. What the current keys have signed stays valid: they are published for another day. New next keys are published at once.',
      danger: unknownFor > 0,
      ...(unknownFor > 0 && {
        warning: `A next key was published less than an hour ago; verifiers may not have it yet, and would refuse what it signs. Wait ${counted(Math.ceil(unknownFor / 60), 'minute')}, unless a key has been compromised.`,
        button: 'Rotate anyway',
        turnsOn: 'now',
      }),
    }),
    done: () => 'The keys are rotated.',
    command: {
      description: 'sign with the next keys; signatures of the current keys stay valid for a day',
      examples: [`${CONFIGURED} --reason "yearly"`],
    },
    page: { path: '/keys/rotate', back: '/keys', button: 'Rotate the keys' },
  }),
  import: action({
    path: '/keys/import',
    values: ['key'],
    run: ({ keys }, { body, decision }) => keys.import(body.key, decision),
    ask: () => ({
      title: 'Replace the next signing key of its kind with this one?',
      text: 'It is published at once, and signs after the next rotation.',
    }),
    command: {
      description: 'use your own key as the next one of its kind: an EC P-256 or RSA private key as PEM, JWK or JWKS',
      examples: [
        `${CONFIGURED} key.pem`,
        'openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 | coursegate keys import --config coursegate.yaml -',
        'openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 | coursegate keys import --config coursegate.yaml -',
      ],
      argument: ['<file>', 'the key file, or - for standard input'],
    },
  }),
  remove: action({
    path: '/keys/:id/remove',
    run: ({ keys }, { id, decision }) => keys.remove(id, decision),
    ask: ({ name, keyState = 'verifying' }) => ({
      title: `Remove the signing key ${name}?`,
      text: `Remove a key only if it has been compromised. Otherwise rotate the keys, which invalidates nothing. ${CONSEQUENCES[keyState]}`,
    }),
    done: (_reply, { name }) => `The key ${name} is removed. What it signed is no longer valid.`,
    command: {
      description: 'remove a compromised key at once; everything it signed becomes invalid',
      examples: [`${CONFIGURED} KID --reason "leaked"`],
      argument: ['<kid>', 'the key id, as shown by keys list'],
    },
    page: { path: '/keys/:id/remove', back: '/keys', button: 'Remove this key' },
  }),
};

const CONSEQUENCES: Readonly<Record<NonNullable<ActionContext['keyState']>, string>> = {
  signing:
    'It stops signing at once, and the next key takes its place. ID tokens and assertions that it has signed are no longer valid.',
  next: 'It has not signed anything yet. Another next key is published at once.',
  verifying: 'ID tokens and assertions that it has signed are no longer valid.',
};
