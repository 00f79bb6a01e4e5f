/**
 * While a Cluster moves our slot to another node, the keys are split between both nodes, and a key that is missing on
 * one may exist on the other. A script that went on would take a used code for an unknown one, or stop half-way, so it
 * is refused before it begins. Two keys that never exist reveal the state: the old node refuses a missing key, and the
 * new one refuses two keys of which one is missing.
 */
const WHOLE = `
local here = redis.pcall('EXISTS', ARGV[1] .. 'nowhere:1', ARGV[1] .. 'nowhere:2')
if type(here) == 'table' and here.err then return here end
`;

/**
 * What the store runs inside Redis. A script runs alone, so each is one atomic step. All keys carry one hash tag and
 * are in one slot of a Cluster. The scripts build key names themselves, which is why the tag is passed as ARGV[1].
 *
 *   {prefix}:entry:<kind>:<id>            hash: payload, expiresAt ('' is never), consumedAt, and the references
 *   {prefix}:index:<kind>:<name>:<value>  sorted set of ids, by expiry (+inf is never)
 *   {prefix}:expiry                       sorted set of <kind>:<id>, by expiry: used by the sweep
 *   {prefix}:charge:<kind>:<id>           hash: what a charged entry counts towards. It outlives an entry that Redis expires
 *   {prefix}:charged:size:<quota>:<client>           sorted set of networks, by bytes; '*' is all networks, or all clients
 *   {prefix}:charged:age:<quota>:<client>:<network>  sorted set of <kind>:<id>, the oldest first
 *   {prefix}:charged:last                            the age of the newest
 *
 * The caller's clock decides expiry. Redis itself expires keys a GRACE later, also by the caller's clock. That frees
 * entries that no sweep reached, and clocks may differ by this much before one of them loses an entry too early.
 */
const COMMON = `${WHOLE}
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

-- Changes what a part of a quota holds. Out: how many bytes that is then; by 0 it only asks.
local function add(quota, client, network, bytes)
  local key = sizeKey(quota, client)
  local held = tonumber(redis.call('ZADD', key, 'INCR', bytes, network))
  if held <= 0 then redis.call('ZREM', key, network) end
  return held
end

-- Takes an entry out of what is counted. Out: to whom it was charged, if to anybody.
local function release(member)
  local key = PREFIX .. 'charge:' .. member
  local quota, network, client, bytes, age = unpack(redis.call('HMGET', key, 'quota', 'network', 'client', 'bytes', 'age'))
  if not quota then return nil end
  for _, app in ipairs({ '*', client }) do
    add(quota, app, network, -bytes)
    add(quota, app, '*', -bytes)
    redis.call('ZREM', ageKey(quota, app, network), member)
  end
  redis.call('DEL', key)
  return { quota = quota, network = network, client = client, age = age }
end

local function take(member, charge, payload, before)
  local quota, network, client, bytes = charge.quota.name, charge.network, charge.client, #payload + 1024
  local same = before and before.quota == quota and before.network == network and before.client == client
  local age = same and before.age or redis.call('INCRBY', PREFIX .. 'charged:last', 1)
  redis.call('HSET', PREFIX .. 'charge:' .. member, 'quota', quota, 'network', network, 'client', client, 'bytes', bytes, 'age', age)
  for _, app in ipairs({ '*', client }) do
    add(quota, app, network, bytes)
    add(quota, app, '*', bytes)
    redis.call('ZADD', ageKey(quota, app, network), age, member)
  end
end

-- An entry, with what refers to it. Redis may have expired it already.
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

-- Entries past their expiry, at most limit.
local function reap(limit)
  local dead = redis.call('ZRANGEBYSCORE', EXPIRY, '-inf', NOW, 'LIMIT', 0, limit)
  for _, member in ipairs(dead) do discard(member) end
  return #dead
end

-- The oldest entry of a network, or of the one that holds most ('*'); of a client, or of all ('*').
local function evict(quota, client, network)
  if network == '*' then
    -- All networks together hold at least as much as any of them.
    local most = redis.call('ZRANGE', sizeKey(quota, client), -2, -1)
    network = most[2] == '*' and most[1] or most[2]
  end
  local oldest = redis.call('ZRANGE', ageKey(quota, client, network), 0, 0)[1]
  if oldest then discard(oldest) end
  return oldest
end

-- The parts of a quota that a charge counts towards, with the most that each may hold.
local function limitsOf(charge)
  local limits = { { '*', charge.network, charge.quota.perNetwork } }
  if charge.client ~= '' then limits[2] = { charge.client, '*', charge.quota.perClient } end
  limits[#limits + 1] = { '*', '*', charge.quota.total }
  return limits
end
`;

/**
 * ARGV[3]: the mutations as JSON. ARGV[4]: the deadline by the server's clock. Returns 1 on success. Otherwise nothing
 * was applied: 0 (a guard failed), -1 (too late), -2 (a quota that evicts nothing is full).
 */
export const COMMIT = `${COMMON}
local time = redis.call('TIME')
if time[1] * 1000 + time[2] / 1000 > tonumber(ARGV[4]) then return -1 end

-- Mutations are played on a view first, so that a guard sees those before it and a failed one leaves no trace.
local view, order = {}, {}
local function look(kind, id)
  local key = entryKey(kind, id)
  local slot = view[key]
  if not slot then
    local fields = redis.call('HMGET', key, 'expiresAt', 'consumedAt', unpack(REFERENCES))
    slot = { key = key, kind = kind, id = id }
    if fields[1] then
      -- An expiry that is no number is none to rely on: the entry counts as expired.
      local expiresAt = nil
      if fields[1] ~= '' then expiresAt = tonumber(fields[1]) or 0 end
      slot.stored = { expiresAt = expiresAt, consumedAt = fields[2] or nil, references = {} }
      for at, name in ipairs(REFERENCES) do slot.stored.references[name] = fields[at + 2] or nil end
      slot.entry = slot.stored
    end
    view[key] = slot
    order[#order + 1] = slot
  end
  return slot
end
local function alive(entry) return entry and (not entry.expiresAt or entry.expiresAt > NOW) end
local function written(from, consumedAt)
  return {
    payload = from.payload, expiresAt = from.expiresAt, references = from.references, charge = from.charge,
    consumedAt = consumedAt,
  }
end

for _, mutation in ipairs(cjson.decode(ARGV[3])) do
  local op = mutation.op
  if op == 'put' then
    local slot = look(mutation.entry.kind, mutation.entry.id)
    slot.entry = written(mutation.entry, slot.entry and slot.entry.consumedAt)
  elseif op == 'create' then
    local slot = look(mutation.entry.kind, mutation.entry.id)
    if alive(slot.entry) then return 0 end
    slot.entry = written(mutation.entry, nil)
  elseif op == 'replace' then
    local slot = look(mutation.kind, mutation.id)
    local entry = slot.entry
    if entry and entry == slot.stored and redis.call('HGET', slot.key, 'payload') == mutation.was then
      slot.entry = written({ payload = mutation.payload, expiresAt = entry.expiresAt, references = entry.references }, entry.consumedAt)
      slot.entry.resealed = true
    end
  elseif op == 'consume' then
    local slot = look(mutation.kind, mutation.id)
    if not alive(slot.entry) or slot.entry.consumedAt then return 0 end
    slot.entry = written(slot.entry, NOW)
  elseif op == 'delete' then
    look(mutation.kind, mutation.id).entry = nil
  else
    local index = indexKey(mutation.kind, mutation.name, mutation.value)
    for _, id in ipairs(redis.call('ZRANGE', index, 0, -1)) do look(mutation.kind, id) end
    for _, slot in ipairs(order) do
      local entry = slot.entry
      if slot.kind == mutation.kind and entry and entry.references[mutation.name] == mutation.value then slot.entry = nil end
    end
  end
end

-- A script that fails half-way leaves what it wrote, so what could fail is asked first: here keys of another type.
redis.call('ZCARD', EXPIRY)
for _, slot in ipairs(order) do
  if slot.entry ~= slot.stored then
    for _, entry in ipairs({ slot.stored or slot.entry, slot.entry or slot.stored }) do
      for name, value in pairs(entry.references) do redis.call('ZCARD', indexKey(slot.kind, name, value)) end
    end
  end
end
-- Redis asks once in a script whether there is memory left, at its first write, and only of a command that may take more.
-- DEL is none, so this asks, writing nothing. What only deletes or revokes goes on without memory.
for _, slot in ipairs(order) do
  if slot.entry and slot.entry.payload then
    redis.call('SETRANGE', PREFIX .. 'nowhere:1', 0, '')
    break
  end
end

for _, slot in ipairs(order) do
  local charge = slot.entry and slot.entry.charge
  if charge and not slot.stored and charge.quota.whenFull == 'refuse' then
    for _, limit in ipairs(limitsOf(charge)) do
      if add(charge.quota.name, limit[1], limit[2], 0) + #slot.entry.payload + 1024 > limit[3] then return -2 end
    end
  end
end

local touched = {}
for _, slot in ipairs(order) do
  local key, entry, stored, member = slot.key, slot.entry, slot.stored, slot.kind .. ':' .. slot.id
  if entry ~= stored then
    if stored then
      for name, value in pairs(stored.references) do
        if not entry or entry.references[name] ~= value then
          local index = indexKey(slot.kind, name, value)
          redis.call('ZREM', index, slot.id)
          touched[index] = true
        end
      end
    end
    local before = nil
    if not entry or (entry.payload and not entry.resealed) then before = release(member) end
    if entry and entry.charge then take(member, entry.charge, entry.payload, before) end
    if not entry then
      redis.call('DEL', key)
      redis.call('ZREM', EXPIRY, member)
    elseif not entry.payload then
      redis.call('HSET', key, 'consumedAt', entry.consumedAt)
    else
      redis.call('DEL', key)
      redis.call('HSET', key, 'payload', entry.payload, 'expiresAt', entry.expiresAt or '')
      if entry.consumedAt then redis.call('HSET', key, 'consumedAt', entry.consumedAt) end
      for name, value in pairs(entry.references) do
        local index = indexKey(slot.kind, name, value)
        redis.call('HSET', key, name, value)
        redis.call('ZADD', index, entry.expiresAt or '+inf', slot.id)
        touched[index] = true
      end
      if entry.expiresAt then
        redis.call('PEXPIRE', key, lifetime(entry.expiresAt))
        redis.call('ZADD', EXPIRY, entry.expiresAt, member)
      else
        redis.call('ZREM', EXPIRY, member)
      end
    end
  end
end

-- An index lives as long as its longest member; members that Redis has expired already go whenever it is touched.
for index in pairs(touched) do
  redis.call('ZREMRANGEBYSCORE', index, '-inf', NOW - GRACE - 1)
  local longest = redis.call('ZRANGE', index, -1, -1, 'WITHSCORES')[2]
  if longest == 'inf' then
    redis.call('PERSIST', index)
  elseif longest then
    local milliseconds = lifetime(tonumber(longest))
    if redis.call('PTTL', index) < tonumber(milliseconds) then redis.call('PEXPIRE', index, milliseconds) end
  end
end

-- Who writes cleans up: the sweep's fixed pace need not keep up with the load. What goes wrong there is not the writer's.
pcall(reap, #order + 4)

for _, slot in ipairs(order) do
  local charge = slot.entry and slot.entry.charge
  if charge and charge.quota.whenFull == 'evict' then
    local quota = charge.quota.name
    for _, limit in ipairs(limitsOf(charge)) do
      while add(quota, limit[1], limit[2], 0) > limit[3] and evict(quota, limit[1], limit[2]) do end
    end
  end
end
return 1
`;

/**
 * KEYS[1]: the index. ARGV[3], ARGV[4]: kind and limit (-1: none). Returns id, payload, expiresAt, consumedAt,
 * references.
 */
export const FIND_BY = `${WHOLE}
local INDEX, PREFIX, NOW, KIND, LIMIT = KEYS[1], ARGV[1], math.floor(tonumber(ARGV[2]) / 1000), ARGV[3], tonumber(ARGV[4])
local BATCH = 100
local found, gone, offset = {}, {}, 0
repeat
  local ids = redis.call('ZRANGEBYSCORE', INDEX, '(' .. NOW, '+inf', 'LIMIT', offset, BATCH)
  for _, id in ipairs(ids) do
    if #found == LIMIT then break end
    local key = PREFIX .. 'entry:' .. KIND .. ':' .. id
    local fields = redis.call('HMGET', key, 'payload', 'expiresAt', 'consumedAt', 'grant', 'member', 'client', 'uid')
    if fields[1] then
      table.insert(fields, 1, id)
      found[#found + 1] = fields
    else
      gone[#gone + 1] = id
    end
  end
  offset = offset + BATCH
until #ids < BATCH or #found == LIMIT
for _, id in ipairs(gone) do redis.call('ZREM', INDEX, id) end
return found
`;

/** ARGV[3]: the limit. Returns how many expired entries were deleted. */
export const SWEEP = `${COMMON}
return reap(tonumber(ARGV[3]))
`;

/** Returns the TIME of the node that has our keys. In a Cluster only a command with a key is sent to that node. */
export const TIME = `return redis.call('TIME')`;
