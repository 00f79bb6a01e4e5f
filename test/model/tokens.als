/*
 * Codes, refresh tokens and revocation. This file says what there is, behaviour.als what can happen, and promises.als what is
 * promised. Names behind "src:" are files in src/authorization-server, if no folder is given.
 */
module tokens

/** The generation that a refresh token carries. A connection is refreshed at most three times here. */
enum Generation { First, Second, Third, Fourth }

sig Member {}

/** A connection: the grant, its one code, and the family of its refresh tokens. As a credential, it is the code. */
sig Grant { member: lone Member }

/** The access token and the refresh token of one response. `from` is the refresh token that was shown for it. */
sig Pair { grant: one Grant, from: lone Pair, generation: one Generation, by: one Replica }
fact chains {
  all p: Pair | no p.from implies p.generation = First
    else p.grant = p.from.grant and p.generation = p.from.generation.next
}

/** What a store holds of each connection. The record of a family (src: refresh-family.ts) is its present pair. */
abstract sig Copy {
  var live: set Grant,
  /** Codes that no one has redeemed. */
  var unused: set Grant,
  var present: set Pair,
  var suspended: set Member
}
/** The store that gates use, and a replica of it, or a backup. */
one sig Primary, Standby extends Copy {}
/** If there is one, a commit is acknowledged when the standby has it: `minReplicas`, a synchronous replica. */
lone sig Durable {}
/** If there is one, the standby may take over, or the backup be restored. */
lone sig Failover {}

/** A gate. */
sig Replica {
  /** Access tokens that it found active (src/resource-server/cache.ts), and those that it is looking up. */
  var cached: set Pair,
  var fetching: set Pair,
  /** Connections that it has ended, but not told anyone yet, and those whose end it has acknowledged. */
  var ending: set Grant,
  var revoked: set Grant,
  /** Members whose connections it is ending. */
  var cutting: set Member
}

enum Phase { New, Fresh, Used, Reuse, Ended, Issued, Refused, Gone }

/** A request to the token endpoint. `gives` is the response it will get, if it gets tokens. */
sig Request { at: one Replica, shows: one Pair + Grant, gives: lone Pair, var phase: one Phase }

/** What anyone outside the gate has: the app and whoever stole from it. Each may be shown at any time. */
var sig held in Pair + Grant {}
/** Consent pages that are open. */
var sig consenting in Grant {}
/** Responses that exist, and those whose replay window the process that gave them still watches (src: answer-watch.ts). */
var sig issued, watched in Pair {}
/** Responses, and redeemed codes, whose replay window is over. */
var sig over in Pair + Grant {}
/** Replicas that a message about a revocation is on its way to (src/storage/bus.ts). */
var sig told in Replica {}
/** Commits that the standby does not have yet. */
var sig waits in Request + Grant + Member {}

// For the promises only: pairs that a failover lost, connections that were ended, responses that were not asked for again
// in time, and what was cut off when the clock last moved.
var sig lost, late in Pair {}
var sig ended, due in Grant {}
var sig cut, cutDue in Member {}

fun grantOf[x: Pair + Grant]: one Grant { x in Grant => x else x.grant }
fun presentOf[g: Grant]: lone Pair { Primary.present & grant.g }
fun inProgress: set Request { phase.(Fresh + Used + Reuse + Ended + Issued) }

/** Each connection is at its consent page, approved, or has its first tokens. */
pred start {
  Grant = consenting + Primary.live and no consenting & Primary.live
  Primary.unused in Primary.live
  all g: Primary.live - Primary.unused | one presentOf[g]
  Primary.present in generation.First and Primary.present.grant = Primary.live - Primary.unused
  issued = Primary.present and held = Primary.live + Primary.present
  copies[Primary, Standby] and no suspended
  Request in phase.New
  no cached and no fetching and no told and no watched and no over and no waits
  no ending and no revoked and no cutting and no cut and no due and no cutDue and no lost and no late and no ended
}

pred copies[from, to: Copy] {
  to.live = from.live and to.unused = from.unused and to.present = from.present and to.suspended = from.suspended
}
pred becomes[to, from: Copy] {
  to.live' = from.live and to.unused' = from.unused and to.present' = from.present and to.suspended' = from.suspended
}
pred same[c: Copy] { becomes[c, c] }
pred sameStore { all c: Copy | same[c] }
pred sameRequests { phase' = phase and held' = held and issued' = issued }
pred sameCaches { cached' = cached and fetching' = fetching and told' = told }
pred sameWindows { watched' = watched and over' = over and late' = late }
pred sameEndings { ending' = ending and revoked' = revoked }
pred sameMembers { cutting' = cutting and cut' = cut and consenting' = consenting }
pred sameTime { due' = due and cutDue' = cutDue }
pred sameHistory { lost' = lost and ended' = ended }
pred moves[q: Request, to: Phase] { phase' = phase ++ q -> to }
