/** A mistake in the code that the simulation runs, as replacements in files of `src`. Each text must be there once. */
export interface PlantedBug {
  /** For the command line and for what was found. */
  readonly name: string;
  /** In one sentence. In brackets is a server that had it. */
  readonly what: string;
  /** The promise of docs/proof.md that it breaks. */
  readonly breaks: string;
  /** The mistake of test/model/mutants.ts that stands for it, if no schedule of the simulation reaches it. */
  readonly model?: string;
  readonly edits: readonly (readonly [file: string, from: string, to: string])[];
}

const SERVER = 'authorization-server';

/** Mistakes that are easy to make in the real code, among them those of other servers. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  // ---- Codes and refresh tokens: what one commit has to decide
  {
    name: 'put-without-revision',
    what: 'a refresh writes the record of its family whatever it has become since it was read (bike4mind 1801)',
    breaks: 'OneSuccessor',
    edits: [[`${SERVER}/refresh-adapter.ts`, `{ op: 'update', entry, revision }`, `{ op: 'put', entry }`]],
  },
  {
    name: 'newer-revision-accepted',
    what: 'the store takes an update if the entry is as new as what was read, or newer',
    breaks: 'OneSuccessor',
    edits: [['storage/sql/plan.ts', 'held.revision !== mutation.revision', 'held.revision < mutation.revision']],
  },
  {
    name: 'used-token-consumed-again',
    what: 'the presented refresh token is consumed without a look at whether it was used',
    breaks: 'OneSuccessor',
    edits: [[`${SERVER}/unit-of-work.ts`, `if (this.presented?.kind !== 'present') this.usedBefore = true;`, '']],
  },
  {
    name: 'family-per-refresh',
    what: 'each refresh begins a family of its own, and leaves the record of the token before',
    breaks: 'OneSuccessor',
    edits: [[`${SERVER}/provider.ts`, ', used && tokens.read(used.jti)?.family)', ')']],
  },
  {
    name: 'code-guard-left-out',
    what: 'the commit of an exchange does not consume its code',
    breaks: 'CodeOnce',
    edits: [[`${SERVER}/unit-of-work.ts`, `this.#mutations.push({ op: 'consume', kind, id });`, '']],
  },
  {
    name: 'code-read-then-deleted',
    what: 'a code is read, and deleted later without a look at whether it is still there (Cloudflare KV)',
    breaks: 'CodeOnce',
    edits: [[`${SERVER}/unit-of-work.ts`, `{ op: 'consume', kind, id }`, `{ op: 'delete', kind, id }`]],
  },
  {
    name: 'consume-without-guard',
    what: 'the store consumes an entry that is consumed already',
    breaks: 'CodeOnce',
    edits: [
      [
        'storage/sql/plan.ts',
        'if (!isHeld(held) || held.consumedAt !== undefined) return undefined;\n        after.set(key, { ...held, consumedAt',
        'if (!isHeld(held)) return undefined;\n        after.set(key, { ...held, consumedAt',
      ],
    ],
  },
  {
    name: 'advanced-before-commit',
    what: 'the record of a family goes on before the commit of its refresh, which may fail (Keycloak 49213)',
    breaks: 'NotSignedOut',
    edits: [
      [
        `${SERVER}/refresh-adapter.ts`,
        'else unit.add(mutation);',
        `else if (revision === undefined) unit.add(mutation);
      else {
        if (!(await store.commit([mutation], 'vital'))) unit.usedBefore = true;
        unit.add({ op: 'put', entry });
      }`,
      ],
    ],
  },
  {
    name: 'commit-in-two',
    what: 'an exchange or a refresh commits what it uses up, and then what it gives',
    breaks: 'NothingLost',
    edits: [
      [
        `${SERVER}/unit-of-work.ts`,
        ': this.#store.commit(this.#mutations, priority);',
        `: this.#store
          .commit(this.#mutations.filter(({ op }) => op !== 'put'), priority)
          .then((held) => held && this.#store.commit(this.#mutations.filter(({ op }) => op === 'put'), priority));`,
      ],
    ],
  },
  // ---- Repeats: what an app may lose, and what a thief may gain
  {
    name: 'loser-signed-out',
    what: 'of two refreshes with one token at a time, the later is refused and gets no answer (nocturne 391)',
    breaks: 'NotSignedOut',
    edits: [
      [
        `${SERVER}/token-transaction.ts`,
        'const recalled = await uses[grantType].recall(presented);',
        `const recalled: Recalled = unit.usedBefore ? await uses[grantType].recall(presented) : { kind: 'unknown' };`,
      ],
    ],
  },
  {
    name: 'race-is-reuse',
    what: 'a refresh that comes second ends the connection',
    breaks: 'NotSignedOut',
    edits: [
      [
        `${SERVER}/token-transaction.ts`,
        `(recalled.kind === 'unknown' && unit.usedBefore)`,
        `recalled.kind !== 'repeated'`,
      ],
      [
        `${SERVER}/token-transaction.ts`,
        `if (recalled.kind === 'answer') {`,
        `if (recalled.kind === 'answer' && unit.usedBefore) {`,
      ],
    ],
  },
  {
    name: 'answer-under-the-new-token',
    what: 'the kept answer is sealed under the new token, so that the token before does not open it',
    breaks: 'NotSignedOut',
    edits: [[`${SERVER}/answer-replay.ts`, 'seal(keyOf(value), JSON', 'seal(keyOf(String(body.refresh_token)), JSON']],
  },
  {
    name: 'answer-for-the-family',
    what: 'any earlier token of a family gets the present answer (Supabase)',
    breaks: 'NeverBoth',
    edits: [
      [`${SERVER}/answer-replay.ts`, 'const key = keyOf(value);', 'const key = keyOf(grantId);'],
      [`${SERVER}/answer-replay.ts`, 'remember({ question, value }:', 'remember({ question, grantId }:'],
      [`${SERVER}/answer-replay.ts`, 'seal(keyOf(value), JSON', 'seal(keyOf(grantId), JSON'],
    ],
  },
  {
    name: 'answer-without-window',
    what: 'an answer is given again for as long as it is stored',
    breaks: 'ReuseEnds',
    edits: [
      [
        `${SERVER}/answer-replay.ts`,
        `if (age >= answerKept(window) * 1000 || (await watch.isOver(by, answeredAt))) return { kind: 'unknown' };`,
        '',
      ],
    ],
  },
  {
    name: 'window-from-issue',
    what: 'the window of an answer begins when the presented token was issued',
    breaks: 'NotSignedOut',
    edits: [
      [
        `${SERVER}/answer-replay.ts`,
        'answeredAt: clock() };',
        'answeredAt: (unit.presented?.payload.iat ?? 0) * 1000 };',
      ],
    ],
  },
  {
    name: 'window-in-an-outage',
    what: 'the window of an answer goes on while no gate is running',
    breaks: 'NotSignedOut',
    edits: [
      [`${SERVER}/answer-watch.ts`, 'found !== undefined && found.at >= end', 'found === undefined || found.at >= end'],
    ],
  },
  {
    name: 'window-by-a-jumping-clock',
    what: 'a window is over when the clock of any gate says so, which may have jumped',
    breaks: 'NotSignedOut',
    edits: [
      [
        `${SERVER}/answer-watch.ts`,
        'if (by === id) return',
        'if (by !== id) return true;\n      if (by === id) return',
      ],
    ],
  },
  {
    name: 'repeated-code-is-reuse',
    what: 'a repeat of the request that redeemed a code ends the connection',
    breaks: 'NotSignedOut',
    edits: [[`${SERVER}/code-uses.ts`, `use.question === question ? 'repeated' : 'reused'`, `'reused'`]],
  },
  {
    name: 'code-as-consumed',
    what: 'a used code is refused by the library, which ends the connection, before its use is looked up',
    breaks: 'NotSignedOut',
    edits: [[`${SERVER}/adapter.ts`, 'EXCHANGED.has(model) ? asUnused', 'model === REFRESH_TOKEN ? asUnused']],
  },
  {
    name: 'restart-forgets-a-key',
    what: 'each process makes a key for refresh tokens of its own, and knows none of those before a restart',
    breaks: 'NotSignedOut',
    edits: [
      [
        `${SERVER}/stored-key.ts`,
        'if (found !== undefined) return found.key;',
        `if (kind === 'RefreshTokenKey') return made.key;\n  if (found !== undefined) return found.key;`,
      ],
    ],
  },
  // ---- Failures of the store
  {
    name: 'outage-is-invalid-grant',
    what: 'a refresh token that cannot be read counts as unknown: invalid_grant instead of 503',
    breaks: 'NotSignedOut',
    edits: [
      [
        `${SERVER}/refresh-adapter.ts`,
        'const entry = await store.get(REFRESH_TOKEN, token.family);',
        'const entry = await store.get(REFRESH_TOKEN, token.family).catch(() => undefined);',
      ],
    ],
  },
  {
    name: 'unknown-outcome-is-failure',
    what: 'a commit whose answer was lost counts as one that was not made',
    breaks: 'NotSignedOut',
    edits: [
      [
        `${SERVER}/token-transaction.ts`,
        `if (await unit.commit(grantType === 'refresh_token' ? 'vital' : 'ordinary')) {`,
        `if (await unit.commit(grantType === 'refresh_token' ? 'vital' : 'ordinary').catch(() => false)) {`,
      ],
    ],
  },
  {
    name: 'answer-before-the-replica',
    what: 'an answer is given again before the standby of the store has what it rests on',
    breaks: 'NothingLost',
    model: 'a repeated answer does not wait for the standby',
    edits: [[`${SERVER}/token-transaction.ts`, `await store.commit([], 'vital');\n      ctx.body`, 'ctx.body']],
  },
  {
    name: 'revoked-before-the-replica',
    what: 'a revocation that finds nothing left is acknowledged before the standby has the one before it',
    breaks: 'NothingLost',
    model: 'a revocation is acknowledged before the standby has it',
    edits: [[`${SERVER}/token-transaction.ts`, `else await store.commit([], 'vital');`, '']],
  },
  {
    name: 'restored-token-by-generation',
    what: 'a refresh token is known by its generation alone, also one that a failed-over store has lost',
    breaks: 'NothingUnknown',
    model: 'a refresh token is known by its generation alone',
    edits: [
      [`${SERVER}/refresh-family.ts`, 'generation === rotations && hasHash(value, hash)', 'generation === rotations'],
    ],
  },
  {
    name: 'newer-token-by-its-mac',
    what: 'a token that is newer than a restored store is taken for its MAC',
    breaks: 'NothingUnknown',
    edits: [[`${SERVER}/refresh-family.ts`, `generation > rotations ? 'ahead'`, `generation > rotations ? 'present'`]],
  },
  // ---- The store in a file
  {
    name: 'acknowledged-before-the-sync',
    what: 'the embedded store acknowledges a commit before it is synced to the disk',
    breaks: 'NothingLost',
    edits: [
      [
        'storage/sqlite/sqlite-store.ts',
        'await (committed ? durable.committed(mutations) : durable.all());',
        'if (committed) void durable.committed(mutations).catch(() => {});\n      else await durable.all();',
      ],
    ],
  },
  {
    name: 'sync-that-began-before',
    what: 'a commit of the embedded store waits for a sync that began before it',
    breaks: 'NothingLost',
    edits: [
      [
        'storage/sqlite/sync.ts',
        'next ??= syncAfter(running);',
        'if (running === undefined) next ??= syncAfter(running);',
      ],
      ['storage/sqlite/sync.ts', 'const durable = next;', 'const durable = (next ?? running) as Promise<void>;'],
    ],
  },
  {
    name: 'answer-rests-on-what-is-not-synced',
    what: 'the embedded store reads what is not synced yet, and an answer that is given again rests on it',
    breaks: 'NothingLost',
    edits: [
      ['storage/sqlite/sqlite-store.ts', 'await durable.all();\n    return found;', 'return found;'],
      ['storage/sqlite/sqlite-store.ts', 'if (unsynced !== undefined) await unsynced;', ''],
      [
        'storage/sqlite/sqlite-store.ts',
        'await (committed ? durable.committed(mutations) : durable.all());',
        'if (committed) await durable.committed(mutations);',
      ],
    ],
  },
  // ---- Reuse and revocation
  {
    name: 'loser-ends-before-the-winner',
    what: 'a reuse ends the family alone, and a refresh in progress writes it again (OpenRisk 725)',
    breaks: 'ReuseEnds',
    edits: [
      [`${SERVER}/token-transaction.ts`, 'await (await provider.Grant.find(grantId))?.destroy();', ''],
      [
        'storage/sql/plan.ts',
        'if (!isHeld(held) || held.consumedAt !== undefined || held.revision !== mutation.revision) return undefined;',
        'if (isHeld(held) && held.revision !== mutation.revision) return undefined;',
      ],
    ],
  },
  {
    name: 'reuse-ends-afterwards',
    what: 'the reuse of a token or a code is answered before the connection has ended',
    breaks: 'ReuseEnds',
    edits: [
      [
        `${SERVER}/token-transaction.ts`,
        'await removingAtOnce(\n        store,',
        'void removingAtOnce(\n        store,',
      ],
      [
        `${SERVER}/token-transaction.ts`,
        `'gate', of.reuse),\n      );`,
        `'gate', of.reuse),\n      ).catch(() => {});`,
      ],
    ],
  },
  {
    name: 'reused-code-only-refused',
    what: 'the second use of a code is refused, and what it was exchanged for goes on',
    breaks: 'ReuseEnds',
    edits: [
      [
        `${SERVER}/token-transaction.ts`,
        'const isCopy = recalled',
        `const isCopy = grantType !== 'authorization_code' && (recalled`,
      ],
      [`${SERVER}/token-transaction.ts`, 'unit.usedBefore);', 'unit.usedBefore));'],
    ],
  },
  {
    name: 'code-forgotten-at-expiry',
    what: 'a used code is kept until it would have expired, and unknown after that',
    breaks: 'ReuseEnds',
    edits: [[`${SERVER}/adapter.ts`, `(model === 'AuthorizationCode' ? answerKept(replayWindow) : 0)`, '0']],
  },
  {
    name: 'family-kept',
    what: 'a revocation ends the grant, and leaves its refresh tokens',
    breaks: 'NothingRevived',
    model: 'the end of a connection leaves the record of its refresh tokens',
    edits: [
      [
        `${SERVER}/grants.ts`,
        `'AccessToken', 'RefreshToken', 'AuthorizationCode'`,
        `'AccessToken', 'AuthorizationCode'`,
      ],
    ],
  },
  {
    name: 'access-token-outlives-grant',
    what: 'a revocation leaves the access tokens, which are judged without their grant',
    breaks: 'RevokedAtOnce',
    edits: [
      [
        `${SERVER}/grants.ts`,
        `'AccessToken', 'RefreshToken', 'AuthorizationCode'`,
        `'RefreshToken', 'AuthorizationCode'`,
      ],
      [`${SERVER}/introspect.ts`, 'if (grant === undefined || client', 'if (client'],
      [`${SERVER}/introspect.ts`, 'if (grant.isExpired ||', 'if (grant !== undefined && (grant.isExpired ||'],
      [
        `${SERVER}/introspect.ts`,
        'grant.accountId !== token.accountId) return',
        'grant.accountId !== token.accountId)) return',
      ],
    ],
  },
  {
    name: 'revoked-in-the-cache-only',
    what: 'a revocation empties the caches and leaves the store as it is',
    breaks: 'RevokedAtOnce',
    edits: [[`${SERVER}/grants.ts`, '...guard, ...grants.flatMap(({ id }) => ending(id)), ...reported', '...reported']],
  },
  {
    name: 'one-batch-revoked',
    what: 'the end of all connections of a member takes no second look for those approved meanwhile',
    breaks: 'SuspendedIsCutOff',
    model: 'a suspension is acknowledged without a second look for connections',
    edits: [[`${SERVER}/grants.ts`, `count += found.length;\n        await turn();`, 'return found.length;']],
  },
  {
    name: 'suspended-member-served',
    what: 'the token endpoint does not ask whether the member is suspended',
    breaks: 'SuspendedIsCutOff',
    model: 'the token endpoint does not ask whether the member is suspended',
    edits: [
      [
        `${SERVER}/provider.ts`,
        'if (exchanged !== undefined && (await suspensions.since(sub)) !== undefined) return undefined;',
        '',
      ],
    ],
  },
  // ---- Caches and the bus
  {
    name: 'cache-forgets-a-revocation',
    what: 'the cache of token checks is not emptied by a revocation',
    breaks: 'RevokedAtOnce',
    edits: [['resource-server/cache.ts', 'revocations += 1;\n      tokens.clear();', 'revocations += 1;']],
  },
  {
    name: 'cached-during-a-revocation',
    what: 'a token is cached although a revocation came while it was looked up',
    breaks: 'RevokedAtOnce',
    edits: [['resource-server/cache.ts', 'answer.active && before === revocations', 'answer.active']],
  },
  {
    name: 'cached-until-told',
    what: 'a cached token is trusted until a message says otherwise',
    breaks: 'RevokedWithinBound',
    edits: [['resource-server/cache.ts', 'const LIFETIME = 5000;', 'const LIFETIME = 5_000_000;']],
  },
  {
    name: 'told-before-the-commit',
    what: 'gates are told of a revocation before its commit',
    breaks: 'RevokedAtOnce',
    edits: [
      [
        `${SERVER}/grants.ts`,
        'try {\n      return await store.commit(',
        'try {\n      await onRevoked();\n      return await store.commit(',
      ],
      [
        `${SERVER}/grants.ts`,
        'the commit may have been applied.\n      await onRevoked();',
        'the commit may have been applied.',
      ],
    ],
  },
  {
    name: 'untold-revocation',
    what: 'no gate is told when an app ends its connection, or a reuse does',
    breaks: 'RevokedAtOnce',
    edits: [[`${SERVER}/adapter.ts`, 'return unit.remove(mutation, after);', 'return unit.remove(mutation);']],
  },
  {
    name: 'gate-not-told-of-its-own',
    what: 'a gate hears of its own revocations by the bus alone, which may lose them',
    breaks: 'RevokedAtOnce',
    edits: [['foundation/revocations.ts', 'tellAll();\n      // Without', '// Without']],
  },
  // ---- Tokens that are bound to a key (DPoP)
  {
    name: 'proof-marked-without-a-look',
    what: 'the proof of a token request is marked as used whether it was used or not',
    breaks: 'ProofOnce',
    edits: [[`${SERVER}/adapter.ts`, `[{ op: 'create', entry }], known`, `[{ op: 'put', entry }], known`]],
  },
  {
    name: 'proof-looked-up-then-marked',
    what: 'a resource looks whether a proof was used, and marks it later',
    breaks: 'ProofOnce',
    edits: [
      [
        'resource-server/dpop.ts',
        `const unused = await store.commit([{ op: 'create', entry }], 'vital');`,
        `const unused =
      (await store.get(entry.kind, entry.id)) === undefined && (await store.commit([{ op: 'put', entry }], 'vital'));`,
      ],
    ],
  },
  {
    name: 'bound-token-as-bearer',
    what: 'a token that is bound to a key is admitted without a proof',
    breaks: 'KeyBound',
    edits: [
      [
        'resource-server/gate.ts',
        'if (token.jkt === undefined) return decideScope(token, scheme',
        'return decideScope(token, scheme',
      ],
    ],
  },
  {
    name: 'key-lost-by-a-refresh',
    what: 'the record of a family does not keep the key that its tokens are bound to',
    breaks: 'KeyBound',
    edits: [[`${SERVER}/refresh-family.ts`, 'sessionUid: _session, exp,', 'sessionUid: _session, jkt: _jkt, exp,']],
  },
  // ---- Events for the backend
  {
    name: 'event-before-its-commit',
    what: 'an event is stored before the commit of its change, which may fail',
    breaks: 'EventsTrue',
    edits: [
      [
        `${SERVER}/grants.ts`,
        'const reported = await revocations(describe, outbox, grants, why);',
        `const reported = await revocations(describe, outbox, grants, why);
    if (reported.length > 0) await store.commit(reported, 'vital');`,
      ],
      [
        `${SERVER}/token-transaction.ts`,
        'expiresAt))) unit.put(entry);',
        `expiresAt))) await store.commit([{ op: 'put', entry }]);`,
      ],
    ],
  },
  {
    name: 'event-removed-before-it-is-sent',
    what: 'an event is removed from the queue before the backend has taken it',
    breaks: 'EventsArrive',
    edits: [
      ['events/attempt.ts', 'const sent = await send(', 'await queue.remove(event);\n  const sent = await send('],
    ],
  },
  {
    name: 'reuse-without-an-event',
    what: 'the connection that a reuse ends is not reported to the backend',
    breaks: 'EventsArrive',
    edits: [
      [
        `${SERVER}/token-transaction.ts`,
        `(ending) => tellEnded(ending, presented.grantId, 'gate', of.reuse),`,
        'async () => {},',
      ],
    ],
  },
  // ---- A reload of the configuration
  {
    name: 'closed-before-its-requests-end',
    what: 'a reload closes what was built from the configuration before, and does not wait for requests',
    breaks: 'ReloadWhole',
    edits: [['generation/retire.ts', 'await Promise.race([inFlight.over(), ended]);', 'void ended;']],
  },
  {
    name: 'serves-before-it-is-ready',
    what: 'a new configuration serves before its last check, which may refuse it',
    breaks: 'ReloadWhole',
    edits: [
      [
        'process/generations.ts',
        'try {\n        ready?.();',
        'const before = current;\n      current = next;\n      try {\n        ready?.();',
      ],
      [
        'process/generations.ts',
        '      const before = current;\n      current = next;\n      next.start',
        '      next.start',
      ],
    ],
  },
  {
    name: 'reloads-at-once',
    what: 'two reloads run at a time, and the slower one serves though it was asked for first',
    breaks: 'ReloadWhole',
    edits: [['process/reload.ts', 'const done = last.then(', 'const done = Promise.resolve().then(']],
  },
  // ---- Signing keys
  {
    name: 'old-key-dropped',
    what: 'a rotation drops the key that signed until then, and what it signed cannot be verified',
    breaks: 'KeysVerify',
    edits: [
      [
        `${SERVER}/keyring.ts`,
        '[{ key: current, since: now, until: now + VERIFIES }, ...standingAt(now, from)]',
        'standingAt(now, from)',
      ],
    ],
  },
  {
    name: 'unpublished-key-signs',
    what: 'a rotation signs with a key that nobody could know before',
    breaks: 'KeysVerify',
    edits: [
      [
        `${SERVER}/keyring.ts`,
        'current: next,\n    next: await createKey(current.alg),',
        'current: await createKey(current.alg),\n    next,',
      ],
    ],
  },
];
