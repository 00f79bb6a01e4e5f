/** A mistake in behaviour.als, as replacements of its text, each of which must apply once. */
interface Mutant {
  readonly what: string;
  /** The promise that does not hold with it. */
  readonly breaks: string;
  /** How many states the shortest trace has that shows it. */
  readonly steps: number;
  readonly edits: readonly (readonly [from: string, to: string])[];
}

/** Mistakes that a server could make in the code that behaviour.als stands for. The names in brackets are of servers that made them. */
export const MUTANTS: readonly Mutant[] = [
  {
    what: 'a refresh does not check that its record is what was read (bike4mind)',
    breaks: 'OneSuccessor',
    steps: 5,
    edits: [['else presentOf[q.shows.grant].generation = q.shows.generation', 'else some presentOf[q.shows.grant]']],
  },
  {
    what: 'a code is read and deleted in two steps (Cloudflare KV)',
    breaks: 'CodeOnce',
    steps: 5,
    edits: [['q.shows in Grant => q.shows in Primary.unused\n', 'q.shows in Grant => q.shows in Primary.live\n']],
  },
  {
    what: 'tokens are sent before the standby has them',
    breaks: 'NothingLost',
    steps: 5,
    edits: [['q.phase in Issued + Ended and (some Durable implies q not in waits)', 'q.phase in Issued + Ended']],
  },
  {
    what: 'a repeated answer does not wait for the standby',
    breaks: 'NothingLost',
    steps: 7,
    edits: [["q.gives = kept and waits' = waits + q", "q.gives = kept and waits' = waits"]],
  },
  {
    what: 'a revocation is acknowledged before the standby has it',
    breaks: 'NothingLost',
    steps: 4,
    edits: [['g in r.ending and (some Durable implies g not in waits)', 'g in r.ending']],
  },
  {
    what: 'an approval does not wait for the standby',
    breaks: 'NothingLost',
    steps: 3,
    edits: [
      ['all c: Primary + { s: Standby | some Durable } {', 'all c: Primary {'],
      ['no Durable implies same[Standby]', 'same[Standby]'],
    ],
  },
  {
    what: 'a used token is only refused',
    breaks: 'ReuseEnds',
    steps: 6,
    edits: [['isReuse[q] => Reuse else Refused', 'isReuse[q] => Refused else Refused']],
  },
  {
    what: 'the end of a connection leaves the record of its refresh tokens',
    breaks: 'NothingRevived',
    steps: 3,
    edits: [["Primary.present' = Primary.present - grant.g\n", "Primary.present' = Primary.present\n"]],
  },
  {
    what: 'a revocation leaves the code',
    breaks: 'NothingRevived',
    steps: 3,
    edits: [["Primary.unused' = Primary.unused - g\n", "Primary.unused' = Primary.unused\n"]],
  },
  {
    what: 'a refresh writes its record again if a revocation has deleted it (OpenRisk)',
    breaks: 'NothingRevived',
    steps: 5,
    edits: [
      [
        'else presentOf[q.shows.grant].generation = q.shows.generation',
        'else (no presentOf[q.shows.grant] or presentOf[q.shows.grant].generation = q.shows.generation)',
      ],
    ],
  },
  {
    what: 'a repeated refresh is a reuse at once',
    breaks: 'NotSignedOut',
    steps: 5,
    edits: [['(Primary.present & from.(q.shows)) - over {', '(Primary.present & from.(q.shows)) - Pair {']],
  },
  {
    what: 'the replay window goes on while the gate is down',
    breaks: 'NotSignedOut',
    steps: 7,
    edits: [["over' = over + watched + ", "over' = over + issued + "]],
  },
  {
    what: 'a repeated exchange of a code is a reuse at once',
    breaks: 'NotSignedOut',
    steps: 5,
    edits: [['(q.shows in Grant implies q.shows in over)', '(q.shows in Grant implies q.shows in Grant)']],
  },
  {
    what: 'any earlier refresh token gets the present answer (Supabase)',
    breaks: 'NeverBoth',
    steps: 8,
    edits: [['(Primary.present & from.(q.shows)) - over {', '(Primary.present & (^from).(q.shows)) - over {']],
  },
  {
    what: 'the gate forgets nothing when it ends a connection itself',
    breaks: 'RevokedAtOnce',
    steps: 5,
    edits: [
      [
        "pred announce[r: Replica] {\n  cached' = cached - r -> Pair and fetching' = fetching - r -> Pair",
        "pred announce[r: Replica] {\n  cached' = cached and fetching' = fetching",
      ],
    ],
  },
  {
    what: 'a token is cached although a revocation came while it was looked up',
    breaks: 'RevokedAtOnce',
    steps: 5,
    edits: [
      [
        "pred announce[r: Replica] {\n  cached' = cached - r -> Pair and fetching' = fetching - r -> Pair",
        "pred announce[r: Replica] {\n  cached' = cached - r -> Pair and fetching' = fetching",
      ],
    ],
  },
  {
    what: 'a cached token is trusted until a message says otherwise',
    breaks: 'RevokedWithinBound',
    steps: 6,
    edits: [["no watched' and no cached' and no fetching'", "no watched' and cached' = cached and no fetching'"]],
  },
  {
    what: 'an access token is judged without its grant, and outlives it',
    breaks: 'RevokedWithinBound',
    steps: 4,
    edits: [['{ p in Primary.present.*from and p.grant in Primary.live }', '{ p in issued }']],
  },
  {
    what: 'the token endpoint does not ask whether the member is suspended',
    breaks: 'SuspendedIsCutOff',
    steps: 6,
    edits: [['(g not in Primary.live or some g.member & Primary.suspended)', 'g not in Primary.live']],
  },
  {
    what: 'a suspension is acknowledged without a second look for connections',
    breaks: 'SuspendedIsCutOff',
    steps: 4,
    edits: [['m in r.cutting and no member.m & Primary.live and ', 'm in r.cutting and ']],
  },
  {
    what: 'a token that is newer than the restored store is taken for its MAC',
    breaks: 'NothingUnknown',
    steps: 7,
    edits: [
      [
        'else (no p or gt[q.shows.generation, p.generation]) => Refused',
        'else no p => Refused else gt[q.shows.generation, p.generation] => Fresh',
      ],
      [
        'else presentOf[q.shows.grant].generation = q.shows.generation',
        'else not gt[presentOf[q.shows.grant].generation, q.shows.generation]',
      ],
    ],
  },
  {
    what: 'a refresh token is known by its generation alone',
    breaks: 'NothingUnknown',
    steps: 9,
    edits: [['else q.shows = p => Fresh', 'else q.shows.generation = p.generation => Fresh']],
  },
];
