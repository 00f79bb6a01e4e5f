-- ARGV[3]: the mutations as JSON. ARGV[4]: the deadline by the server's clock. ARGV[5]: how many replicas are waited
-- for. Returns 1 on success. Otherwise nothing was applied: 0 (a guard failed), -1 (too late), -2 (a quota that evicts
-- nothing is full).
local time = redis.call('TIME')
if time[1] * 1000 + time[2] / 1000 > tonumber(ARGV[4]) then return -1 end

-- Mutations are applied to a view first, so that a guard sees those before it and a failed one leaves no trace.
local view, order = {}, {}
local function look(kind, id)
  local key = entryKey(kind, id)
  local slot = view[key]
  if not slot then
    local fields = redis.call('HMGET', key, 'expiresAt', 'consumedAt', 'revision', unpack(REFERENCES))
    slot = { key = key, kind = kind, id = id }
    if fields[1] then
      -- An entry whose expiry is not a number counts as expired.
      local expiresAt = nil
      if fields[1] ~= '' then expiresAt = tonumber(fields[1]) or 0 end
      slot.stored = { expiresAt = expiresAt, consumedAt = fields[2] or nil, revision = tonumber(fields[3] or 1), references = {} }
      for at, name in ipairs(REFERENCES) do slot.stored.references[name] = fields[at + 3] or nil end
      slot.entry = slot.stored
    end
    view[key] = slot
    order[#order + 1] = slot
  end
  return slot
end
local function alive(entry) return entry and (not entry.expiresAt or entry.expiresAt > NOW) end
local function written(from, consumedAt, revision)
  return {
    payload = from.payload, expiresAt = from.expiresAt, references = from.references, charge = from.charge,
    consumedAt = consumedAt, revision = revision,
  }
end

for _, mutation in ipairs(cjson.decode(ARGV[3])) do
  local op = mutation.op
  if mutation.entry then
    local slot = look(mutation.entry.kind, mutation.entry.id)
    local entry = slot.entry
    if op == 'create' then
      if alive(entry) then return 0 end
      entry = nil
    elseif op == 'update' and (not alive(entry) or entry.consumedAt or entry.revision ~= mutation.revision) then
      return 0
    end
    slot.entry = written(mutation.entry, entry and entry.consumedAt, entry and entry.revision + 1 or 1)
  elseif op == 'replace' then
    local slot = look(mutation.kind, mutation.id)
    local entry = slot.entry
    if entry and entry == slot.stored and redis.call('HGET', slot.key, 'payload') == mutation.was then
      slot.entry = written({ payload = mutation.payload, expiresAt = entry.expiresAt, references = entry.references }, entry.consumedAt, entry.revision)
      slot.entry.resealed = true
    end
  elseif op == 'restore' then
    local slot = look(mutation.kind, mutation.id)
    slot.entry = written(mutation, mutation.consumedAt, mutation.revision)
    if mutation.charge then mutation.charge.quota = { name = mutation.charge.quota } end
  elseif op == 'consume' then
    local slot = look(mutation.kind, mutation.id)
    if not alive(slot.entry) or slot.entry.consumedAt then return 0 end
    slot.entry = written(slot.entry, NOW, slot.entry.revision)
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

-- A script that fails halfway keeps what it wrote, so whatever could fail is tried first: here, keys of another type.
redis.call('ZCARD', EXPIRY)
for _, slot in ipairs(order) do
  if slot.entry ~= slot.stored then
    for _, entry in ipairs({ slot.stored or slot.entry, slot.entry or slot.stored }) do
      for name, value in pairs(entry.references) do redis.call('ZCARD', indexKey(slot.kind, name, value)) end
    end
  end
end
-- Redis checks its memory once in a script, at the first write, and only for a command that may use more of it. DEL is
-- not such a command, so this one makes it check, and writes nothing. Commits that only delete need no memory.
for _, slot in ipairs(order) do
  if slot.entry and slot.entry.payload then
    redis.call('SETRANGE', PREFIX .. 'nowhere:1', 0, '')
    break
  end
end

for _, slot in ipairs(order) do
  local charge = slot.entry and slot.entry.charge
  if charge and not slot.stored and charge.quota.whenFull == 'refuse' then
    for _, limit in ipairs(charge.limits) do
      if add(charge.quota.name, limit.client, limit.network, 0) + #slot.entry.payload + 1024 > limit.most then return -2 end
    end
  end
end

local touched, changed = {}, false
for _, slot in ipairs(order) do
  local key, entry, stored, member = slot.key, slot.entry, slot.stored, slot.kind .. ':' .. slot.id
  if entry ~= stored then
    changed = true
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
      if entry.revision > 1 then redis.call('HSET', key, 'revision', entry.revision) end
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

-- WAIT waits for the last write of its connection. If there was nothing to change, another connection's may be newer:
-- this is a write after it. Once a key was deleted, the memory is not checked.
if not changed and ARGV[5] ~= '0' then
  redis.call('DEL', PREFIX .. 'barrier')
  redis.call('SET', PREFIX .. 'barrier', '')
end

-- An index expires with its last member. Members whose entries Redis has expired are removed on every write to it.
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

-- Every commit deletes expired entries as well, since the sweep might not keep up with the load. An error in that must
-- not fail the commit.
pcall(reap, #order + 4)

for _, slot in ipairs(order) do
  local charge = slot.entry and slot.entry.charge
  if charge and charge.quota.whenFull == 'evict' then
    local quota = charge.quota.name
    for _, limit in ipairs(charge.limits) do
      while add(quota, limit.client, limit.network, 0) > limit.most and evict(quota, limit) do end
    end
  end
end
return 1
