/*
 * What is promised, each as an assertion, and the situations in which the promises mean something. A `check` finds
 * no counterexample, and a `run` finds an example, in every trace with as many things and steps as it says.
 */
open tokens
open behaviour

/** No failover loses what was acknowledged: there is none, or commits wait for the standby. */
pred safe { no Failover or some Durable }

/** The request is answered with tokens in this step. */
pred gets[q: Request] { q.phase != Issued and q.phase' = Issued }

/** The token was used, and what it was used for was used as well, or its window is over. */
pred superseded[x: Pair + Grant] {
  some x & Grant & over or some s: (issued - lost) & from.x | s in over or some (issued - lost) & from.s
}

/** A refresh token has at most one successor, but for one that was never acknowledged. */
assert OneSuccessor { safe implies always all t: Pair | lone (issued - lost) & from.t and lone held & from.t }

/** A code gives tokens at most once, but for some that were never acknowledged. */
assert CodeOnce {
  safe implies always all g: Grant | lone (issued - lost) & grant.g & generation.First and lone held & grant.g & generation.First
}

/** Nothing acknowledged is lost: neither tokens nor approvals nor revocations. */
assert NothingLost {
  safe implies always {
    all p: held & Pair | p.grant in ended or p in presentOf[p.grant].*from
    held & Grant in Primary.live + ended
    no Replica.revoked & Primary.live
  }
}

/** A request with a used token or code gets nothing, and is answered when its connection has ended. */
assert ReuseEnds {
  safe implies always all q: Request | (q.phase = New and q.phase' != New and superseded[q.shows]) implies
    always (q.phase' != q.phase and q.phase' in Issued + Ended + Refused implies grantOf[q.shows] not in Primary.live')
}

// An app does as docs/clients.md says. It shows its newest token, a code only until it has tokens, one request after the
// other, and repeats a request in time: the window does not pass while the gate runs.
pred newest { all q: Request | q.phase = New and q.phase' != New implies no held & from.(q.shows) and
  (q.shows in Grant implies no held & grant.(q.shows)) }
pred oneAtATime { all disj q, r: inProgress | grantOf[q.shows] = grantOf[r.shows] implies q.shows = r.shows }
pred inTime { all q: inProgress | no q.shows & Grant & over and no issued & from.(q.shows) & late }

/** An app that only lost an answer is not signed out, and its newest token is good for a refresh. */
assert NotSignedOut {
  (safe and always (newest and oneAtATime and inTime)) implies always {
    no q: phase.Reuse | grantOf[q.shows] in Primary.live
    all p: held & Pair | (p.grant in Primary.live and no held & from.p) implies p in presentOf[p.grant] + presentOf[p.grant].from
  }
}

/** The replica that acknowledged a revocation admits nothing more. */
assert RevokedAtOnce { safe implies always no r: Replica, p: Pair | p.grant in r.revoked and admits[r, p] }

/** No replica does when its cached answers have expired, even if no message of the bus arrived. */
assert RevokedWithinBound { safe implies always no r: Replica, p: Pair | p.grant in due and admits[r, p] }

/** When the suspension of a member is acknowledged, nothing is issued for them, and soon nothing is admitted. */
assert SuspendedIsCutOff {
  safe implies always {
    no r: Replica, p: Pair | some p.grant.member & cutDue and admits[r, p]
    no q: Request | gets[q] and some grantOf[q.shows].member & cut
  }
}

/** Two holders of one chain never both go on: after one has used a token's successor, the token gives nothing. */
assert NeverBoth { always no q: Request | gets[q] and some (issued - lost) & from.((issued - lost) & from.(q.shows)) }

/** What is revoked stays so. */
assert NothingRevived { safe implies always no Replica.revoked & (Primary.live + Primary.unused + Primary.present.grant) }

/** In any store, restored or not: tokens that it does not know give nothing. */
assert NothingUnknown { always { no q: Request | gets[q] and q.shows in lost
  no p: lost | active[p] } }

check OneSuccessor for 3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 3 Request, exactly 8 steps
check CodeOnce for 3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 3 Request, exactly 8 steps
check NothingLost for 3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 2 Request, exactly 9 steps
check ReuseEnds for 3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 3 Request, exactly 8 steps
check NotSignedOut for 3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 3 Request, exactly 7 steps
check RevokedAtOnce for 3 but 0 Member, exactly 1 Grant, 2 Pair, exactly 2 Replica, 1 Request, exactly 8 steps
check RevokedWithinBound for 3 but 0 Member, exactly 1 Grant, 2 Pair, exactly 2 Replica, 1 Request, exactly 8 steps
check SuspendedIsCutOff for 3 but 1 Member, exactly 2 Grant, 2 Pair, exactly 1 Replica, 1 Request, exactly 8 steps
check NeverBoth for 3 but 0 Member, exactly 1 Grant, 4 Pair, exactly 1 Replica, 3 Request, exactly 9 steps
check NothingUnknown for 3 but 0 Member, exactly 1 Grant, 4 Pair, exactly 1 Replica, 3 Request, exactly 9 steps
check NothingRevived for 3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 2 Request, exactly 8 steps

/** A used token ends the connection. */
run Reused { eventually some q: Request | q.phase = Ended and q.shows in Pair and q.shows not in over
} for 3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 3 Request, exactly 10 steps

/** Two requests get the same tokens. */
run Repeated { eventually some disj q, r: phase.Issued | q.gives = r.gives
} for 3 but 0 Member, exactly 1 Grant, 2 Pair, exactly 1 Replica, 2 Request, exactly 6 steps

/** A gate is killed between the commit and the answer, and much later the app gets the same tokens. */
run Killed { some disj q, r: Request | eventually (q.phase = Issued and q.gives not in held and crash[q.at] and
  eventually (tick and eventually (r.phase = Issued and r.gives = q.gives)))
} for 3 but 0 Member, exactly 1 Grant, 2 Pair, exactly 1 Replica, 2 Request, exactly 8 steps

/** Another replica still admits what is revoked: it may, until its cached answer expires. */
run Stale { eventually some r: Replica, p: Pair | p.grant in Replica.revoked and p in r.cached
} for 3 but 0 Member, exactly 1 Grant, 1 Pair, exactly 2 Replica, 0 Request, exactly 6 steps

/** A member approves an app after the suspension has begun: `suspensionDone` has to wait. */
run ApprovedLate { eventually (some g: Grant | approve[g] and some Replica.cutting)
} for 3 but 1 Member, 1 Grant, 0 Pair, exactly 1 Replica, 0 Request, exactly 4 steps

/** A failover that loses nothing acknowledged, though it loses a commit. */
run FailedOver { some Durable and eventually (some lost and eventually some phase.Issued and after eventually (some q: Request | answer[q]))
} for 3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 2 Request, exactly 8 steps

/** A token that the restored store does not know is refused, and the connection goes on. */
run Ahead { eventually some q: phase.Refused | q.shows in lost and grantOf[q.shows] in Primary.live
} for 3 but 0 Member, exactly 1 Grant, 2 Pair, exactly 1 Replica, 2 Request, exactly 7 steps

/** The documented exception: without `minReplicas`, or from a backup, a revocation can be lost, and the token works. */
run RevocationLost { eventually some g: Replica.revoked | g in Primary.live
} for 3 but 0 Member, exactly 1 Grant, 1 Pair, exactly 1 Replica, 0 Request, exactly 4 steps

/** The other exception: a copy of a request that arrives after its answer was used ends the connection. */
run Overtaken { safe and always (newest and inTime) and eventually (some q: phase.Reuse | q.shows in Pair and q.shows.grant in Primary.live)
} for 3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 3 Request, exactly 9 steps
