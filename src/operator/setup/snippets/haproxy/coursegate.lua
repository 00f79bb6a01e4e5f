-- {{firstLine}}
local ADDRESS = { {{address}} }
local CONNECT_LIMIT, ANSWER_LIMIT = {{connect}}, {{answer}}
local QUESTION = {{question}}
local IDENTITY = {{identity}}
local FIELDS = {
  {{fields}}
}

-- For HAProxy 2.6 or newer. The lines above are from the configuration; the rest is the same for every site.
--   ADDRESS          where coursegate listens for questions: a Unix socket, or an address and a port
--   CONNECT_LIMIT, ANSWER_LIMIT    how long it may take, in seconds
--   QUESTION         how every question begins. HTTP/1.0: the answer is not chunked, and ends with the connection
--   IDENTITY         the fields that name the member, in lower case. Every permission has all of them, empty ones too
--   FIELDS           by backend: the request fields that it may get, in lower case; a final * matches any ending

-- How the body of a request is delimited, and the host, which the backend section sets.
local FRAMING = { ['host'] = true, ['content-length'] = true, ['transfer-encoding'] = true, ['expect'] = true }

-- The client's fields that coursegate reads. All values of each are sent, because it refuses repeated ones.
local ASKED_WITH = { 'authorization', 'dpop', 'content-type', 'origin', 'user-agent', 'accept', 'accept-language' }

-- Fields of coursegate's answer that concern its connection to HAProxy.
local OF_THE_CONNECTION = {
  ['connection'] = true, ['keep-alive'] = true, ['content-length'] = true, ['transfer-encoding'] = true, ['date'] = true,
}

-- Sent on with the response of the backend.
local FOR_THE_CLIENT = {
  ['x-request-id'] = 'txn.coursegate_request_id',
  ['ratelimit'] = 'txn.coursegate_ratelimit',
  ['ratelimit-policy'] = 'txn.coursegate_ratelimit_policy',
}

local function value_lines(lines, name, values)
  for at = 0, #(values or {}) do
    if values and values[at] then lines[#lines + 1] = name .. ': ' .. values[at] end
  end
end

-- The host that a request is for. An absolute target must name the same one; otherwise both are sent, and refused.
local function hosts_of(txn, headers)
  local hosts = {}
  for at = 0, #(headers['host'] or {}) do hosts[#hosts + 1] = headers['host'] and headers['host'][at] end
  local authority = txn.sf:url():match('^%a[%w+.-]*://([^/?]*)')
  if authority and authority:lower() ~= (hosts[1] or ''):lower() then hosts[#hosts + 1] = authority end
  return hosts
end

local function question(txn, headers, target)
  local lines = { table.unpack(QUESTION) }
  lines[#lines + 1] = 'X-Original-Method: ' .. txn.sf:method()
  lines[#lines + 1] = 'X-Original-URI: ' .. target
  for _, host in ipairs(hosts_of(txn, headers)) do lines[#lines + 1] = 'X-Original-Host: ' .. host end
  value_lines(lines, 'X-Forwarded-For', headers['x-forwarded-for'])
  lines[#lines + 1] = 'X-Forwarded-For: ' .. txn.sf:src()
  for _, name in ipairs(ASKED_WITH) do value_lines(lines, name, headers[name]) end
  return lines
end

-- Returns everything that coursegate sends until it closes the connection; nil if it cannot be reached or is too slow.
local function exchange(bytes)
  local socket = core.tcp()
  socket:settimeout(CONNECT_LIMIT)
  local received
  if socket:connect(table.unpack(ADDRESS)) then
    socket:settimeout(ANSWER_LIMIT)
    if socket:send(bytes) then received = socket:receive('*a') end
  end
  socket:close()
  return received
end

-- Returns status, fields (lists of values by name in lower case) and body; nil unless the answer is complete.
local function parsed(bytes)
  local head, body = (bytes or ''):match('^(.-\r\n)\r\n(.*)$')
  local status = head and head:match('^HTTP/1%.[01] (%d%d%d) ')
  if not status then return nil end
  local fields = {}
  for name, value in head:gmatch('\n([^:\r\n]+):[ \t]*([^\r\n]*)') do
    local own = fields[name:lower()] or {}
    own[#own + 1] = value
    fields[name:lower()] = own
  end
  local lengths = fields['content-length'] or {}
  if #lengths ~= 1 or tonumber(lengths[1]) ~= #body then return nil end
  return tonumber(status), fields, body
end

local function may_pass(name, allowed)
  if FRAMING[name] then return true end
  for _, one in ipairs(allowed) do
    if one == name or (one:sub(-1) == '*' and name:sub(1, #one - 1) == one:sub(1, -2)) then return true end
  end
  return false
end

-- Whether the backend will get exactly this identity.
local function has_identity(txn, fields)
  local headers = txn.http:req_get_headers()
  for _, name in ipairs(IDENTITY) do
    local sent, value = headers[name], fields[name][1]
    if value == '' and sent then return false end
    if value ~= '' and not (sent and sent[0] == value and sent[1] == nil) then return false end
  end
  return true
end

local function admit(txn, headers, target, fields)
  local allowed = FIELDS[txn:get_var('txn.coursegate_to')]
  for _, name in ipairs(IDENTITY) do
    if not fields[name] or #fields[name] ~= 1 then return end
  end
  for name in pairs(headers) do
    if not may_pass(name, allowed) then txn.http:req_del_header(name) end
  end
  for _, name in ipairs(IDENTITY) do
    if fields[name][1] ~= '' then
      txn.http:req_set_header(name, fields[name][1])
      txn:set_var('txn.coursegate_member', 'yes')
    end
  end
  for name, variable in pairs(FOR_THE_CLIENT) do
    if fields[name] then txn:set_var(variable, fields[name][1]) end
  end
  -- What was judged is what is forwarded.
  txn.http:req_set_uri(target)
  if has_identity(txn, fields) then txn:set_var('txn.coursegate_admitted', 'yes') end
end

-- Asks coursegate about a request. Gives the client its refusal, or prepares the request for the backend and sets
-- txn.coursegate_admitted. Whatever goes wrong leaves that unset, and the configuration answers with 503.
local function ask(txn)
  local headers = txn.http:req_get_headers()
  local target = txn.sf:pathq()
  local lines = question(txn, headers, target)
  for _, line in ipairs(lines) do
    if line:find('[\r\n\0]') then return end
  end
  local status, fields, body = parsed(exchange(table.concat(lines, '\r\n') .. '\r\n\r\n'))
  if status == 200 then return admit(txn, headers, target, fields) end
  if not status or status < 400 then return end
  local answered = {}
  for name, values in pairs(fields) do
    if not OF_THE_CONNECTION[name] then answered[name] = values end
  end
  txn:done({ status = status, headers = answered, body = body })
end

core.register_action('coursegate_ask', { 'http-req' }, ask)
