-- What the filter asks Mailkeep about.
--
-- Outbound mail leaves signed or not at all. The keys stay in PostgreSQL, sealed: the listener of Mailkeep's process
-- `keys` opens all active ones of the From's domain for each message, so that RSA and Ed25519 sign side by side and a
-- change holds at once. Where none signs (the listener away, a key that does not open) the message is put off.
-- docs/decisions/0017-dkim-keys-for-the-filter.md tells what else was tried.
--
-- What a login hands in is signed only where its From is one address that the login may send from, by the listener's
-- word; anything else is refused for good. Postfix asks that of the envelope's sender alone, which is not what
-- recipients see and what a signature vouches for.
local tcp = require "rspamd_tcp"
local ucl = require "ucl"
local log = require "rspamd_logger"
local util = require "rspamd_util"

-- How Rspamd knows `settings_id` of the milters.
local outbound = require("lua_settings").numeric_settings_id("outbound")
local inbound = require("lua_settings").numeric_settings_id("inbound")
local listener = "@@keys_socket@@"
local longest = 320 -- octets of an address: more than any of ours has, and little enough for the listener

local function encoded(text)
  return (text:gsub('%W', function(c) return string.format('%%%02X', c:byte()) end))
end

-- Ask the listener one question; `answered` gets an error, or the status with the body. False where nobody can be asked.
local function ask(task, question, answered)
  return tcp.request{
    task = task,
    host = listener,
    port = 0,
    timeout = 5.0,
    data = { question, '\n' },
    stop_pattern = '\n',
    callback = function(err, data, conn)
      if conn then conn:close() end
      local code, body
      if not err and data then code, body = tostring(data):match('^(%d%d%d) ([^\n]*)') end
      answered(err, tonumber(code), body or '')
    end,
  }
end

local function object(task, body)
  local parser = ucl.parser()
  local parsed, why = parser:parse_string(body)
  if parsed then return parser:get_object() end
  log.errx(task, 'the listener of keys answered no JSON: %s', why)
  return {}
end

local function sign_with_all(task, told)
  local sign = rspamd_plugins.dkim.sign -- not there yet when this file is read
  local domain = told.domain
  for _, key in ipairs(told.keys or {}) do
    local raw = key.key
    -- Rspamd takes what begins with a slash for the name of a file (and tells it to its log): a seed whose base64 does,
    -- one of 64, is given as bytes, which then begin with none.
    if raw:sub(1, 1) == '/' then raw = tostring(util.decode_base64(raw)) end
    local signed = sign(task, { domain = domain, selector = key.selector, rawkey = raw, alg = key.algorithm })
    if not signed then
      -- One signature less may be what a receiver wanted: all or none.
      log.errx(task, 'key %s of %s does not sign', key.selector, domain)
      task:insert_result('KEY_UNUSABLE', 1.0, key.selector)
    else
      task:insert_result('DKIM_SIGNED', 1.0, string.format('%s:s=%s', domain, key.selector))
    end
  end
end

local function refuse(task, words)
  if words then task:get_mempool():set_variable('refused', words) end
end

local id = rspamd_config:register_symbol{
  name = 'SIGN',
  type = 'normal',
  flags = 'ignore_passthrough,explicit_disable',
  callback = function(task)
    if task:get_settings_id() ~= outbound then return end
    local from, login = task:get_from('mime'), task:get_user()
    local fields = task:get_header_full('From') or {}
    local one = from and #from == 1 and #fields == 1 and (from[1].domain or '') ~= '' and #from[1].addr <= longest
    if not one then
      if login then refuse(task, 'From must be one address, and one that you may send as') end
      return
    end
    local about = login and encoded(from[1].addr) .. '/' .. encoded(login) or encoded(from[1].domain)
    local asked = ask(task, '/keys/' .. about, function(err, code, body)
      if code == 200 then
        local told = object(task, body)
        if told.unsigned then task:get_mempool():set_variable('unsigned', 'yes') end
        sign_with_all(task, told)
      elseif code == 403 then
        refuse(task, object(task, body).refused)
      else
        log.errx(task, 'no keys for %s: %s', from[1].domain, err or code)
      end
    end)
    if not asked then log.errx(task, 'the keys of %s could not be asked for', from[1].domain) end
  end
}
for _, told in ipairs{'DKIM_SIGNED', 'KEY_UNUSABLE'} do
  rspamd_config:register_symbol{ name = told, type = 'virtual', parent = id, score = 0.0 }
end

rspamd_config:register_symbol{
  name = 'OUTBOUND_UNSIGNED',
  type = 'postfilter',
  priority = 9,
  flags = 'explicit_disable,ignore_passthrough',
  callback = function(task)
    if task:get_settings_id() ~= outbound then return end
    local refused = task:get_mempool():get_variable('refused')
    if refused then
      task:set_pre_result('reject', refused, 'outbound')
    elseif task:get_mempool():get_variable('unsigned') then
      return -- from the host name, which is no managed domain and has no keys
    elseif not task:has_symbol('DKIM_SIGNED') or task:has_symbol('KEY_UNUSABLE') then
      task:insert_result('OUTBOUND_UNSIGNED', 0.0)
      task:set_pre_result('soft reject', 'DKIM signing temporarily unavailable', 'outbound')
    end
  end
}

-- Spam is not passed on. Where it leads outside alone its sender is told so; of what has a mailbox of ours as well, the
-- copies for the outside end at the lmtp agent. One recipient after the other is asked for, until one has a mailbox.
local function refuse_unless_home(task, recipients, number)
  local recipient = recipients[number]
  if not recipient then
    task:set_pre_result('reject', 'Spam is not passed on', 'inbound')
    return
  end
  local asked = ask(task, '/homes/' .. encoded(recipient.addr), function(err, code)
    if code == 404 then
      refuse_unless_home(task, recipients, number + 1)
    elseif code ~= 200 then
      log.errx(task, 'whether %s is at home here is not known: %s', recipient.addr, err or code)
      task:set_pre_result('soft reject', 'Filter temporarily unavailable', 'inbound')
    end
  end)
  if not asked then
    log.errx(task, 'whether %s is at home here could not be asked for', recipient.addr)
    task:set_pre_result('soft reject', 'Filter temporarily unavailable', 'inbound')
  end
end

rspamd_config:register_symbol{
  name = 'SPAM_FOR_OTHERS',
  type = 'postfilter',
  priority = 9,
  callback = function(task)
    if task:get_settings_id() ~= inbound then return end
    local action = task:get_metric_action()
    local recipients = task:get_recipients('smtp')
    if (action == 'add header' or action == 'rewrite subject') and recipients and #recipients > 0 then
      refuse_unless_home(task, recipients, 1)
    end
  end
}

-- What has copies for the outside goes on with a sender of ours (SRS): the policy agent, which knows the recipients' aliases,
-- says which, in a field with letters that nobody outside knows. It has no other place to tell it.
rspamd_config:register_symbol{
  name = 'PASSED_ON',
  type = 'idempotent',
  flags = 'explicit_disable,ignore_passthrough',
  callback = function(task)
    if task:get_settings_id() ~= inbound then return end
    local reply
    for _, field in ipairs(task:get_header_full('X-Mailkeep-Sender') or {}) do
      local sender = tostring(field.value):match('^%s*@@senders_mark@@ (%S+)%s*$')
      reply = reply or { remove_headers = { ['X-Mailkeep-Sender'] = 0 } }
      if sender then reply.change_from = tostring(util.decode_base64(sender)) end
    end
    if reply then task:set_milter_reply(reply) end
  end
}

-- One line for each message that is not simply let through: what was done and by which symbols.
rspamd_config:register_symbol{
  name = 'LOG_VERDICT',
  type = 'idempotent',
  callback = function(task)
    local action = task:get_metric_action()
    if action == 'no action' then return end
    local score = task:get_metric_score() or {0, 0}
    local symbols = {}
    for _, each in ipairs(task:get_symbols_all() or {}) do
      if each.score ~= 0 then symbols[#symbols + 1] = string.format('%s(%.2f)', each.name, each.score) end
    end
    log.errx(task, 'qid: <%s>, %s: [%s/%s] [%s]', task:get_queue_id() or '', action,
      string.format('%.2f', score[1]), string.format('%.2f', score[2]), table.concat(symbols, ','))
  end
}
