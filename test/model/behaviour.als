/*
 * What can happen, one step at a time: a token request (look, commit, recall, end, answer), what cuts access off, what
 * replicas remember, and what goes wrong. Anything may happen between two steps. A step says what it changes, and ends
 * with what stays the same.
 */
module behaviour
open tokens

// ---- A token request (src: token-transaction.ts, unit-of-work.ts)

/** It is read (src: refresh-adapter.ts, provider.ts). A used code or token goes on: its transaction decides. */
pred look[q: Request] {
  q.phase = New and q.shows in held
  let g = grantOf[q.shows], p = presentOf[g] | moves[q,
    (g not in Primary.live or some g.member & Primary.suspended) => Refused
    else q.shows in Grant => (g in Primary.unused => Fresh else Used)
    else q.shows = p => Fresh
    else (no p or gt[q.shows.generation, p.generation]) => Refused
    else Used]
  held' = held and issued' = issued and waits' = waits
  sameStore and sameCaches and sameWindows and sameEndings and sameMembers and sameTime and sameHistory
}

/** What the store checks in the commit: `consume` of the code, `update` of the revision that was read. */
pred guard[q: Request] {
  q.shows in Grant => q.shows in Primary.unused
  else presentOf[q.shows.grant].generation = q.shows.generation
}

/** Everything that the request writes, in one step. */
pred commit[q: Request] {
  q.phase = Fresh and guard[q]
  one q.gives and q.gives not in issued and q.gives.by = q.at
  q.gives.grant = grantOf[q.shows] and q.gives.from = q.shows & Pair
  Primary.present' = Primary.present - grant.(q.gives.grant) + q.gives
  Primary.unused' = Primary.unused - q.shows
  Primary.live' = Primary.live and Primary.suspended' = Primary.suspended
  issued' = issued + q.gives and watched' = watched + q.gives and waits' = waits + q
  moves[q, Issued]
  held' = held and over' = over and late' = late
  same[Standby] and sameCaches and sameEndings and sameMembers and sameTime and sameHistory
}

/** Nothing could be committed: a repeat, a race, or a reuse of what has not ended yet (src: answer-replay.ts, code-uses.ts). */
pred recall[q: Request] {
  q.phase = Used or (q.phase = Fresh and not guard[q])
  let kept = (Primary.present & from.(q.shows)) - over {
    some kept => moves[q, Issued] and q.gives = kept and waits' = waits + q
    else moves[q, isReuse[q] => Reuse else Refused] and waits' = waits
  }
  held' = held and issued' = issued
  sameStore and sameCaches and sameWindows and sameEndings and sameMembers and sameTime and sameHistory
}

pred isReuse[q: Request] {
  q.phase = Used and grantOf[q.shows] in Primary.live and (q.shows in Grant implies q.shows in over)
}

/** One commit ends a connection with all that belongs to it (src: grants.ts). */
pred ends[g: Grant] {
  Primary.live' = Primary.live - g
  Primary.unused' = Primary.unused - g
  Primary.present' = Primary.present - grant.g
  Primary.suspended' = Primary.suspended
  ended' = ended + g and lost' = lost
  same[Standby]
}

pred end[q: Request] {
  q.phase = Reuse and ends[grantOf[q.shows]]
  moves[q, Ended] and waits' = waits + q
  held' = held and issued' = issued
  sameCaches and sameWindows and sameEndings and sameMembers and sameTime
}

/** The client has the response. After the end of a connection, replicas were told before. */
pred answer[q: Request] {
  q.phase in Issued + Ended and (some Durable implies q not in waits)
  moves[q, Gone]
  q.phase = Ended => announce[q.at] and revoked' = revoked + q.at -> grantOf[q.shows] and held' = held
  else held' = held + q.gives and sameCaches and revoked' = revoked
  waits' = waits and issued' = issued and ending' = ending
  sameStore and sameWindows and sameMembers and sameTime and sameHistory
}

// ---- What cuts access off

pred approve[g: Grant] {
  g in consenting and consenting' = consenting - g
  all c: Primary + { s: Standby | some Durable } {
    c.live' = c.live + g and c.unused' = c.unused + g and c.present' = c.present and c.suspended' = c.suspended
  }
  no Durable implies same[Standby]
  held' = held + g and phase' = phase and issued' = issued and waits' = waits and cutting' = cutting and cut' = cut
  sameCaches and sameWindows and sameEndings and sameTime and sameHistory
}

/** By the app, the member, the operator or the backend. */
pred revoke[r: Replica, g: Grant] {
  g in Primary.live and ends[g]
  ending' = ending + r -> g and waits' = waits + g and revoked' = revoked
  sameRequests and sameCaches and sameWindows and sameMembers and sameTime
}

/** src/foundation/revocations.ts: it forgets what it knew, and tells the others. The bus may lose any message. */
pred announce[r: Replica] {
  cached' = cached - r -> Pair and fetching' = fetching - r -> Pair
  told in told' and told' in told + (Replica - r)
}

pred acknowledge[r: Replica, g: Grant] {
  g in r.ending and (some Durable implies g not in waits)
  ending' = ending - r -> g and revoked' = revoked + r -> g and waits' = waits
  announce[r]
  sameStore and sameRequests and sameWindows and sameMembers and sameTime and sameHistory
}

/** src: administration/account-control.ts. The connections are ended one by one, by `revoke`. */
pred suspend[r: Replica, m: Member] {
  m not in Primary.suspended and Primary.suspended' = Primary.suspended + m
  Primary.live' = Primary.live and Primary.unused' = Primary.unused and Primary.present' = Primary.present
  cutting' = cutting + r -> m and waits' = waits + m and cut' = cut and consenting' = consenting
  same[Standby] and sameRequests and sameEndings and sameCaches and sameWindows and sameTime and sameHistory
}

pred suspensionDone[r: Replica, m: Member] {
  m in r.cutting and no member.m & Primary.live and no member.m & r.ending
  some Durable implies m not in waits
  cutting' = cutting - r -> m and cut' = cut + m and waits' = waits and consenting' = consenting
  sameStore and sameRequests and sameEndings and sameCaches and sameWindows and sameTime and sameHistory
}

// ---- What replicas remember

/** src: introspect.ts. An access token that was replaced stays active until it expires, which is left out here. */
pred active[p: Pair] { p in Primary.present.*from and p.grant in Primary.live }
pred admits[r: Replica, p: Pair] { p in r.cached or active[p] }

pred hear[r: Replica] {
  r in told and told' = told - r and cached' = cached - r -> Pair and fetching' = fetching - r -> Pair
  waits' = waits
  sameStore and sameRequests and sameWindows and sameEndings and sameMembers and sameTime and sameHistory
}

pred fetch[r: Replica, p: Pair] {
  active[p] and fetching' = fetching + r -> p
  cached' = cached and told' = told and waits' = waits
  sameStore and sameRequests and sameWindows and sameEndings and sameMembers and sameTime and sameHistory
}

pred fill[r: Replica, p: Pair] {
  p in r.fetching and fetching' = fetching - r -> p and cached' = cached + r -> p
  told' = told and waits' = waits
  sameStore and sameRequests and sameWindows and sameEndings and sameMembers and sameTime and sameHistory
}

// ---- The clock, and what goes wrong

/** As long as a replay window and the life of a cached answer, whichever is longer. A look-up takes less. */
pred tick {
  over' = over + watched + (Primary.live - Primary.unused) and late' = late + watched
  no watched' and no cached' and no fetching'
  due' = due + Replica.revoked and cutDue' = cutDue + cut
  told' = told and waits' = waits
  sameStore and sameRequests and sameEndings and sameMembers and sameHistory
}

/** The client gives up, or its connection breaks. */
pred drop[q: Request] {
  q in inProgress and moves[q, Gone]
  held' = held and issued' = issued and waits' = waits
  sameStore and sameCaches and sameWindows and sameEndings and sameMembers and sameTime and sameHistory
}

/** A gate is killed, and starts again. The windows that it watched stay open. */
pred crash[r: Replica] {
  phase' = phase ++ (at.r & inProgress) -> Gone
  cached' = cached - r -> Pair and fetching' = fetching - r -> Pair and told' = told - r
  watched' = watched - by.r and ending' = ending - r -> Grant and cutting' = cutting - r -> Member
  held' = held and issued' = issued and over' = over and late' = late and revoked' = revoked and cut' = cut
  waits' = waits and consenting' = consenting
  sameStore and sameTime and sameHistory
}

pred replicate {
  becomes[Standby, Primary] and no waits'
  same[Primary]
  sameRequests and sameCaches and sameWindows and sameEndings and sameMembers and sameTime and sameHistory
}

/** The store loses what the standby does not have. Requests get a 503: all their calls share less time than a failover. */
pred fail {
  some Failover and becomes[Primary, Standby] and no waits'
  phase' = phase ++ inProgress -> Gone
  lost' = lost + issued - Standby.present.*from
  no ending' and no cutting'
  revoked' = revoked and cut' = cut and held' = held and issued' = issued and ended' = ended and consenting' = consenting
  over' = over - Standby.unused and watched' = watched and late' = late
  same[Standby] and sameCaches and sameTime
}

pred rest {
  waits' = waits
  sameStore and sameRequests and sameCaches and sameWindows and sameEndings and sameMembers and sameTime and sameHistory
}

fact traces {
  start
  always {
    (some q: Request | look[q] or commit[q] or recall[q] or end[q] or answer[q] or drop[q])
    or (some g: Grant | approve[g])
    or (some r: Replica, g: Grant | revoke[r, g] or acknowledge[r, g])
    or (some r: Replica, m: Member | suspend[r, m] or suspensionDone[r, m])
    or (some r: Replica | hear[r] or crash[r])
    or (some r: Replica, p: Pair | fetch[r, p] or fill[r, p])
    or tick or replicate or fail or rest
  }
}
