-- {{{firstLine}}}
-- Where coursegate listens for questions: a Unix socket, or an address and a port
local ADDRESS = { {{{address}}} }
-- How long it may take, in seconds
local CONNECT_LIMIT, ANSWER_LIMIT = {{{limits.connect}}}, {{{limits.answer}}}
-- How every question begins. The answer to HTTP/1.0 is not chunked, and ends with the connection.
local QUESTION = {
  'GET {{question}} HTTP/1.0',
  'Host: coursegate',
  {{#secret}}
  '{{name}}: {{value}}',
  {{/secret}}
}

-- For HAProxy 2.6 or newer. The lines above are from the configuration; the rest is the same for every site.

-- The client's fields that coursegate reads. All values of each are sent, because it refuses repeated ones.
local ASKED_WITH = {
  'authorization', 'dpop', 'content-type', 'origin', 'user-agent', 'accept', 'accept-language', 'x-forwarded-for',
}

-- Fields of coursegate's answer that concern its connection to HAProxy
local OF_THE_CONNECTION = { 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'date' }

-- `written` identifies the configuration that this file and the one beside it were written for.
local function question(txn, target, written)
  local headers = txn.http:req_get_headers()
  local lines = { table.unpack(QUESTION) }
  local function add(name, value) lines[#lines + 1] = name .. ': ' .. value end
  -- HAProxy counts values from 0.
  local function add_all(name, values)
    for at = 0, values and #values or -1 do add(name, values[at]) end
  end
  add('X-Coursegate-Config', written)
  add('X-Original-Method', txn.sf:method())
  add('X-Original-URI', target)
  add_all('X-Original-Host', headers['host'])
  for _, name in ipairs(ASKED_WITH) do add_all(name, headers[name]) end
  add('X-Forwarded-For', txn.sf:src())
  if table.concat(lines):find('[\r\n\0]') then return nil end
  return table.concat(lines, '\r\n') .. '\r\n\r\n'
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
    local values = fields[name:lower()] or {}
    values[#values + 1] = value
    fields[name:lower()] = values
  end
  local lengths = fields['content-length'] or {}
  if #lengths ~= 1 or tonumber(lengths[1]) ~= #body then return nil end
  return tonumber(status), fields, body
end

-- Asks coursegate about a request. Gives the client its refusal, or leaves the fields of its permission in variables.
-- Whatever goes wrong leaves those unset, and the configuration answers with 503.
local function ask(txn, written)
  local target = txn.sf:pathq()
  local asked = question(txn, target, written)
  local status, fields, body = parsed(asked and exchange(asked))
  if status == 200 then
    -- What was judged is what is forwarded.
    txn.http:req_set_uri(target)
    for name, values in pairs(fields) do
      if #values == 1 then txn:set_var('txn.coursegate_' .. name:gsub('-', '_'), values[1], true) end
    end
  elseif status and status >= 400 then
    for _, name in ipairs(OF_THE_CONNECTION) do fields[name] = nil end
    txn:done({ status = status, headers = fields, body = body })
  end
end

core.register_action('coursegate_ask', { 'http-req' }, ask, 1)
