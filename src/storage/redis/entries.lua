-- The functions that the store's scripts share. Redis runs one script at a time, so each is one atomic step. All keys carry one hash tag and
-- are in one slot of a Cluster. The scripts build key names themselves, which is why the tag is passed as ARGV[1].
--
--   {prefix}:entry:<kind>:<id>            hash: payload, expiresAt ('' is never), consumedAt, revision (none is 1), and the references
--   {prefix}:index:<kind>:<name>:<value>  sorted set of ids, by expiry (+inf is never)
--   {prefix}:expiry                       sorted set of <kind>:<id>, by expiry: used by the sweep
--   {prefix}:charge:<kind>:<id>           hash: what a charged entry counts towards. It outlives an entry that Redis expires
--   {prefix}:charged:size:<quota>:<client>           sorted set of networks and wider networks, by bytes; '*' is all networks, or all clients
--   {prefix}:charged:age:<quota>:<client>:<network>  sorted set of <kind>:<id>, the oldest first
--   {prefix}:charged:last                            the age of the newest
--   {prefix}:barrier                                 empty: written by commits that change nothing
--
-- The caller's clock decides expiry. Redis itself expires keys a GRACE later, also by the caller's clock. That frees
-- entries that no sweep reached, and clocks may differ by this much before one of them loses an entry too early.
local EXPIRY, PREFIX, NOW_MS = KEYS[1], ARGV[1], tonumber(ARGV[2])
local NOW, GRACE = math.floor(NOW_MS / 1000), 60
local REFERENCES = { 'grant', 'member', 'client', 'uid' }

local function entryKey(kind, id) return PREFIX .. 'entry:' .. kind .. ':' .. id end
local function indexKey(kind, name, value) return PREFIX .. 'index:' .. kind .. ':' .. name .. ':' .. value end
local function lifetime(expiresAt) return string.format('%.0f', math.max((expiresAt + GRACE) * 1000 - NOW_MS, 1)) end

local function sizeKey(quota, client) return PREFIX .. 'charged:size:' .. quota .. ':' .. client end
local function ageKey(quota, client, network)
  return PREFIX .. 'charged:age:' .. quota .. ':' .. client .. ':' .. network
end

-- Changes how many bytes a part of a quota holds, and returns the new number. With 0 it only reads it.
local function add(quota, client, network, bytes)
  local key = sizeKey(quota, client)
  local held = tonumber(redis.call('ZADD', key, 'INCR', bytes, network))
  if held <= 0 then redis.call('ZREM', key, network) end
  return held
end

-- The parts of a quota that an entry counts towards.
local function partsOf(network, wider, client)
  return { { '*', '*' }, { '*', network }, { '*', wider }, { client, '*' }, { client, wider } }
end

-- Takes an entry out of its quota. Returns what it was charged to, or nil.
local function release(member)
  local key = PREFIX .. 'charge:' .. member
  local quota, network, client, bytes, age, wider = unpack(redis.call('HMGET', key, 'quota', 'network', 'client', 'bytes', 'age', 'wider'))
  if not quota then return nil end
  for _, part in ipairs(partsOf(network, wider, client)) do
    add(quota, part[1], part[2], -bytes)
    redis.call('ZREM', ageKey(quota, part[1], part[2]), member)
  end
  redis.call('DEL', key)
  return { quota = quota, network = network, client = client, age = age }
end

local function take(member, charge, payload, before)
  local quota, network, client, bytes = charge.quota.name, charge.network, charge.client, #payload + 1024
  local same = before and before.quota == quota and before.network == network and before.client == client
  local age = charge.age or same and before.age or redis.call('INCRBY', PREFIX .. 'charged:last', 1)
  redis.call('HSET', PREFIX .. 'charge:' .. member, 'quota', quota, 'network', network, 'wider', charge.wider, 'client', client, 'bytes', bytes, 'age', age)
  for _, part in ipairs(partsOf(network, charge.wider, client)) do
    add(quota, part[1], part[2], bytes)
    redis.call('ZADD', ageKey(quota, part[1], part[2]), age, member)
  end
end

-- Deletes an entry and its index members. Redis may have expired the entry already.
local function discard(member)
  local kind, id = string.match(member, '^([^:]*):(.*)$')
  local key = entryKey(kind, id)
  local values = redis.call('HMGET', key, unpack(REFERENCES))
  for at, name in ipairs(REFERENCES) do
    if values[at] then redis.call('ZREM', indexKey(kind, name, values[at]), id) end
  end
  redis.call('DEL', key)
  redis.call('ZREM', EXPIRY, member)
  release(member)
end

-- Deletes up to limit expired entries, and returns their number.
local function reap(limit)
  local dead = redis.call('ZRANGEBYSCORE', EXPIRY, '-inf', NOW, 'LIMIT', 0, limit)
  for _, member in ipairs(dead) do discard(member) end
  return #dead
end

-- Deletes the entry that a part over its limit has to lose (limitsOf in quota.ts). Returns whether there was anything.
local function evict(quota, limit)
  local client, network, sizes = limit.client, limit.network, sizeKey(quota, limit.client)
  if limit.large then
    -- The member '*' holds at least as much as any network, so the largest one is one of the last two.
    local most = redis.call('ZRANGE', sizes, -2, -1, 'WITHSCORES')
    local at = most[3] == '*' and 1 or 3
    if most[at] and most[at] ~= '*' and tonumber(most[at + 1]) > limit.large then network = most[at] end
  end
  local ages = ageKey(quota, client, network)
  local oldest = redis.call('ZRANGE', ages, 0, 0)[1]
  if oldest then discard(oldest) end
  return oldest
end
