-- Virus scanning (`filter.antivirus`): each part of an incoming message is sent to the private clamd.
--
-- Not Rspamd's own module: when clamd reports an error, such as a full disk, that one inserts no symbol, and the message
-- counts as clean. Here a part without an answer of `OK` or `FOUND` is not checked, and `filter.antivirus_on_failure` decides.
local tcp = require "rspamd_tcp"
local redis = require "lua_redis"
local util = require "rspamd_util"
local log = require "rspamd_logger"
local probe = '@@probe@@'

local inbound = require("lua_settings").numeric_settings_id("inbound")
local on_failure, on_encrypted = '@@antivirus_on_failure@@', '@@antivirus_encrypted@@'
local small = 1024 * 1024 -- octets
local cache_seconds = 3600
-- What Rspamd does not parse is not scanned: it stops 32 levels deep, without an error.
local max_parts, max_depth = 1000, 30
local at_once = 8 -- parts that are scanned at the same time: each takes connections, of which all messages share a number
local cache = redis.parse_redis_server('virus')

-- The result for a part: nil (clean), `virus`, `encrypted` or `not_checked`, and the name of what was found.
local function parse_answer(data)
  local answer = tostring(data):gsub('%z', '')
  if answer == 'stream: OK' then return nil end
  local found = answer:match('^stream: (.+) FOUND$')
  if not found then return 'not_checked', answer end
  if found:find('^Heuristics%.Encrypted') then return 'encrypted', found end
  if found:find('^Heuristics%.Limits') then return 'not_checked', found end
  return 'virus', found
end

local symbols = {
  virus = 'VIRUS', encrypted = 'VIRUS_ENCRYPTED', not_checked = 'VIRUS_NOT_CHECKED', too_many_parts = 'VIRUS_TOO_MANY_PARTS',
}

local function report(task, result, name)
  if result then task:insert_result(symbols[result], 1.0, name) end
end

-- A result is stored for an hour, so that the same file in many messages is scanned once.
local function store(task, key, result, name)
  if result == 'not_checked' then return end
  redis.redis_make_request(task, cache, key, true, function() end, 'SETEX',
    { key, tostring(cache_seconds), result and result .. ' ' .. name or 'clean' })
end

-- How long to wait for an answer, and how often. A part is accepted unchecked, or deferred, after 6 s, a large one 0.1 s later
-- for each 2^20 octets: clamd takes up to 0.1 s for each. The proxy's limit for the whole message is 20 s.
local function patience(size)
  if size <= small then return 3.0, 2 end
  return math.min(6.0 + 0.1 * size / small, 17.0), 1
end

-- Calls `on_end` with whether clamd has answered.
local function scan(task, content, key, attempt, on_end)
  local timeout, attempts = patience(#content)
  local function fail(problem, has_answered)
    if attempt < attempts then return scan(task, content, key, attempt + 1, on_end) end
    log.errx(task, 'qid: <%s>, not scanned for viruses: %s', task:get_queue_id() or '', problem)
    report(task, 'not_checked', problem)
    on_end(has_answered)
  end
  local is_sent = tcp.request{
    task = task,
    host = '@@clamd_socket@@',
    port = 0,
    timeout = timeout,
    data = { 'zINSTREAM\0', util.pack('>I4', #content), content, util.pack('>I4', 0) },
    stop_pattern = '\0',
    callback = function(err, data, conn)
      if conn then conn:close() end
      if err then return fail(tostring(err)) end
      local result, name = parse_answer(data)
      if result == 'not_checked' then return fail(name, true) end
      report(task, result, name)
      store(task, key, result, name)
      on_end(true)
    end,
  }
  if not is_sent then fail('clamd could not be asked') end
end

local function check_part(task, part, on_end)
  local content = part:get_content()
  if not content or #content == 0 then return on_end(true) end
  local key = 'mailkeep_virus_' .. part:get_digest()
  local is_sent = redis.redis_make_request(task, cache, key, false, function(err, data)
    local stored = not err and type(data) == 'string' and data
    if stored == 'clean' then return on_end(true) end
    local result, name = tostring(stored):match('^(%l+) (.+)$')
    if not result then return scan(task, content, key, 1, on_end) end
    report(task, result, name)
    on_end(true)
  end, 'GET', { key })
  if not is_sent then scan(task, content, key, 1, on_end) end
end

-- Checks the parts one after the other, some at the same time; no further one if clamd does not answer.
local function check_parts(task, parts)
  local number, is_away = 0, false
  local function check_next(has_answered)
    is_away = is_away or not has_answered
    repeat number = number + 1 until not parts[number] or not parts[number]:is_multipart()
    if parts[number] and not is_away then check_part(task, parts[number], check_next) end
  end
  for _ = 1, at_once do check_next(true) end
end

local function is_too_deep(part)
  local depth = 0
  while part and depth < max_depth do part, depth = part:get_parent(), depth + 1 end
  return part ~= nil
end

local function has_too_many(parts)
  if #parts > max_parts then return true end
  for _, part in ipairs(parts) do
    if is_too_deep(part) then return true end
  end
end

-- Whether the message is from Mailkeep to itself: what scanning fails on must not look like a failure of deliveries.
local function is_probe(task)
  local recipients = task:get_recipients{ 'smtp', 'orig' } or {}
  return #recipients == 1 and recipients[1].addr == probe
end

local id = rspamd_config:register_symbol{
  name = 'VIRUS_SCAN',
  type = 'callback',
  augmentations = { 'timeout=17.0' },
  callback = function(task)
    if task:get_settings_id() ~= inbound or is_probe(task) then return end
    local parts = task:get_parts() or {}
    if has_too_many(parts) then return report(task, 'too_many_parts', tostring(#parts)) end
    check_parts(task, parts)
  end,
}
for _, symbol in pairs(symbols) do
  rspamd_config:register_symbol{ name = symbol, type = 'virtual', parent = id, score = 0.0, group = 'antivirus' }
end

-- Before the verdict (lua/verdict.lua, priority 9), which records a refusal with its rule: lower ones run first.
rspamd_config:register_symbol{
  name = 'VIRUS_VERDICT',
  type = 'postfilter',
  priority = 8,
  flags = 'ignore_passthrough,explicit_disable',
  callback = function(task)
    if task:get_settings_id() ~= inbound then return end
    if task:has_symbol('VIRUS') then
      task:set_pre_result('reject', 'Message contains a virus', 'virus')
    elseif task:has_symbol('VIRUS_TOO_MANY_PARTS') then
      task:set_pre_result('reject', 'Message has too many or too deeply nested parts', 'parts')
    elseif task:has_symbol('VIRUS_NOT_CHECKED') and on_failure == 'defer' then
      task:set_pre_result('soft reject', 'Virus scanner temporarily unavailable', 'virus')
    elseif task:has_symbol('VIRUS_ENCRYPTED') and on_encrypted == 'refuse' then
      task:set_pre_result('reject', 'Message contains an encrypted archive', 'encrypted')
    elseif task:has_symbol('VIRUS_ENCRYPTED') and on_encrypted == 'junk' then
      task:get_mempool():set_variable('junk_rule', 'encrypted')
    end
  end,
}
