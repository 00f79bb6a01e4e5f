/*
 * Names what happens in each step, and with which outcome, so that traces can be written down (write-traces.ts) and
 * replayed against the gate (replay.test.ts). Each step of a trace changes something, and then nothing happens any more.
 */
module traces
open tokens
open behaviour

enum Event {
  LookCode, LookToken, LookUsedCode, LookUsedToken, LookAhead, LookRefused,
  CommitCode, CommitToken, RecallSame, RecallReusedCode, RecallReusedToken, RecallRepeatedCode, RecallRace,
  End, AnswerTokens, AnswerEnded, Drop, Approve, Revoke, Acknowledge, AcknowledgeUnheard, Suspend, SuspensionDone,
  Hear, Fetch, Fill, Tick, Crash, Replicate, Fail, Rest
}

/** What happens now, and what it is about. */
one sig Now {
  var event: one Event,
  var request: lone Request, var connection: lone Grant, var gate: lone Replica, var whom: lone Member, var pair: lone Pair
}

pred looks[q: Request, shown: set Pair + Grant, to: Phase] { look[q] and q.shows in shown and q.phase' = to }
pred recalls[q: Request, shown: set Pair + Grant, was, to: Phase] { recall[q] and q.shows in shown and q.phase in was and q.phase' = to }
pred newer[x: Pair + Grant] { some p: presentOf[grantOf[x]] | x in Pair and gt[x.generation, p.generation] }

fact named { always {
  let e = Now.event, q = Now.request, g = Now.connection, r = Now.gate, m = Now.whom, p = Now.pair {
    some q iff e in LookCode + LookToken + LookUsedCode + LookUsedToken + LookAhead + LookRefused + CommitCode + CommitToken +
      RecallSame + RecallReusedCode + RecallReusedToken + RecallRepeatedCode + RecallRace + End + AnswerTokens + AnswerEnded + Drop
    some g iff e in Approve + Revoke + Acknowledge + AcknowledgeUnheard
    some r iff e in Revoke + Acknowledge + AcknowledgeUnheard + Suspend + SuspensionDone + Hear + Crash + Fetch + Fill
    some m iff e in Suspend + SuspensionDone
    some p iff e in Fetch + Fill
    e = LookCode implies looks[q, Grant, Fresh]
    e = LookToken implies looks[q, Pair, Fresh]
    e = LookUsedCode implies looks[q, Grant, Used]
    e = LookUsedToken implies looks[q, Pair, Used]
    e = LookAhead implies looks[q, Pair, Refused] and newer[q.shows]
    e = LookRefused implies looks[q, Pair + Grant, Refused] and not newer[q.shows]
    e = CommitCode implies commit[q] and q.shows in Grant
    e = CommitToken implies commit[q] and q.shows in Pair
    e = RecallSame implies recalls[q, Pair, Fresh + Used, Issued]
    e = RecallReusedCode implies recalls[q, Grant, Used, Reuse]
    e = RecallReusedToken implies recalls[q, Pair, Used, Reuse]
    e = RecallRepeatedCode implies recalls[q, Grant, Used, Refused]
    e = RecallRace implies recalls[q, Pair + Grant, Fresh, Refused]
    e = End implies end[q]
    e = AnswerTokens implies answer[q] and q.phase = Issued
    e = AnswerEnded implies answer[q] and q.phase = Ended
    e = Drop implies drop[q]
    e = Approve implies approve[g]
    e = Revoke implies revoke[r, g]
    e = Acknowledge implies acknowledge[r, g] and Replica - r in told'
    e = AcknowledgeUnheard implies acknowledge[r, g] and Replica - r not in told'
    e = Suspend implies suspend[r, m]
    e = SuspensionDone implies suspensionDone[r, m]
    e = Hear implies hear[r]
    e = Fetch implies fetch[r, p]
    e = Fill implies fill[r, p]
    e = Tick implies tick
    e = Crash implies crash[r]
    e = Replicate implies replicate
    e = Fail implies fail
    e = Rest implies rest
  }
} }

fact worthwhile { always {
  Now.event = Rest implies always Now.event = Rest
  Now.event = Tick implies (over' != over or cached' != cached or fetching' != fetching or due' != due or cutDue' != cutDue)
  Now.event = Crash implies let r = Now.gate | some at.r & inProgress or some r.(cached + fetching + ending + cutting)
    or r in told or some watched & by.r
  Now.event = Fetch implies Now.pair in held - Now.gate.(cached + fetching)
  Now.event = Replicate implies some waits or not copies[Primary, Standby]
  // An approval that comes after a suspension was under way before it, which it is not when the gate was killed.
  Now.event = Crash and some Primary.suspended implies always Now.event != Approve
  // A connection that has ended may have forgotten when its code was used: a repeat is refused as a reuse then.
  Now.event = RecallRepeatedCode implies Now.request.shows in Primary.live
  // The standby gets commits in their order.
  Now.event = Approve and some Durable implies copies[Primary, Standby]
} }
