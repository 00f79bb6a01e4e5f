-- KEYS[1]: the index. ARGV[3], ARGV[4]: kind and limit (-1: none). Returns id, payload, expiresAt, consumedAt,
-- revision, references.
local INDEX, PREFIX, NOW, KIND, LIMIT = KEYS[1], ARGV[1], math.floor(tonumber(ARGV[2]) / 1000), ARGV[3], tonumber(ARGV[4])
local BATCH = 100
local found, gone, offset = {}, {}, 0
repeat
  local ids = redis.call('ZRANGEBYSCORE', INDEX, '(' .. NOW, '+inf', 'LIMIT', offset, BATCH)
  for _, id in ipairs(ids) do
    if #found == LIMIT then break end
    local key = PREFIX .. 'entry:' .. KIND .. ':' .. id
    local fields = redis.call('HMGET', key, 'payload', 'expiresAt', 'consumedAt', 'revision', 'grant', 'member', 'client', 'uid')
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
