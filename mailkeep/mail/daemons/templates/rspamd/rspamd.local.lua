-- Requests from the filter to Mailkeep.
--
-- Outbound mail is signed or not sent. The keys are encrypted in PostgreSQL. For each message, the listener of Mailkeep's
-- process `keys` decrypts all active keys of the From domain, so that RSA and Ed25519 sign together and a change applies at
-- once. If signing fails (no listener, a key that can't be decrypted), the message is deferred.
-- docs/decisions/0017-dkim-keys-for-rspamd.md describes the alternatives.
--
-- Submitted mail is signed only if From is one address that the login may send from, which the listener checks. Other mail
-- is rejected. Postfix checks only the envelope sender, which recipients don't see and a signature doesn't cover.
--
-- The files in `lua` add their parts.
package.path = '@@rspamd_conf@@/?.lua;' .. package.path

local tcp = require "rspamd_tcp"
local log = require "rspamd_logger"
local util = require "rspamd_util"
local listener = require "lua.listener"
rspamd_plugins.mailkeep = require "lua.authentication" -- for milter_headers.conf
require "lua.dnsbl"
@@if antivirus@@
require "lua.virus"
@@end@@
require "lua.verdict"
require "lua.arc"

-- Rspamd's numbers for the `settings_id` of the milters.
local outbound = require("lua_settings").numeric_settings_id("outbound")
local inbound = require("lua_settings").numeric_settings_id("inbound")
local max_address = 320 -- octets: more than any address here has, within the listener's limit

local function sign_with_all(task, response)
  local sign = rspamd_plugins.dkim.sign -- not defined yet when this file is loaded
  local domain = response.domain
  for _, key in ipairs(response.keys or {}) do
    local raw = key.key
    -- Rspamd treats a key that starts with a slash as a file name (and logs it). The base64 of one seed in 64 does, and is
    -- passed as bytes, which then don't start with one.
    if raw:sub(1, 1) == '/' then raw = tostring(util.decode_base64(raw)) end
    local signed = sign(task, { domain = domain, selector = key.selector, rawkey = raw, alg = key.algorithm })
    if not signed then
      -- A receiver may need the missing signature: all or none.
      log.errx(task, 'signing with key %s of %s failed', key.selector, domain)
      task:insert_result('KEY_UNUSABLE', 1.0, key.selector)
    else
      task:insert_result('DKIM_SIGNED', 1.0, string.format('%s:s=%s', domain, key.selector))
    end
  end
end

local function refuse(task, text)
  if text then task:get_mempool():set_variable('refused', text) end
end

local id = rspamd_config:register_symbol{
  name = 'SIGN',
  type = 'normal',
  flags = 'ignore_passthrough,explicit_disable',
  callback = function(task)
    if task:get_settings_id() ~= outbound then return end
    local from, login = task:get_from('mime'), task:get_user()
    local fields = task:get_header_full('From') or {}
    local has_one_address = from and #from == 1 and #fields == 1 and (from[1].domain or '') ~= '' and #from[1].addr <= max_address
    if not has_one_address then
      if login then refuse(task, 'From must contain exactly one address, which you may send as') end
      return
    end
    local encode = listener.encode
    local subject = login and encode(from[1].addr) .. '/' .. encode(login) or encode(from[1].domain)
    local is_sent = listener.request(task, '/keys/' .. subject, function(err, code, body)
      if code == 200 then
        local response = listener.parse_json(task, body)
        if response.unsigned then task:get_mempool():set_variable('unsigned', 'yes') end
        sign_with_all(task, response)
      elseif code == 403 then
        refuse(task, listener.parse_json(task, body).refused)
      else
        log.errx(task, 'no keys for %s: %s', from[1].domain, err or code)
      end
    end)
    if not is_sent then log.errx(task, 'the keys of %s could not be requested', from[1].domain) end
  end
}
for _, symbol in ipairs{'DKIM_SIGNED', 'KEY_UNUSABLE'} do
  rspamd_config:register_symbol{ name = symbol, type = 'virtual', parent = id, score = 0.0 }
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
      return -- from the host name, which is not a managed domain and has no keys
    elseif not task:has_symbol('DKIM_SIGNED') or task:has_symbol('KEY_UNUSABLE') then
      task:insert_result('OUTBOUND_UNSIGNED', 0.0)
      task:set_pre_result('soft reject', 'DKIM signing temporarily unavailable', 'outbound')
    end
  end
}

-- Mail with external copies gets a sender of ours (SRS). The policy agent, which knows the recipients' aliases, puts it and
-- the domain that forwards into a field with a secret mark: it has no other way to pass them on.
rspamd_config:register_symbol{
  name = 'PASSED_ON',
  type = 'idempotent',
  flags = 'explicit_disable,ignore_passthrough',
  callback = function(task)
    if task:get_settings_id() ~= inbound then return end
    local reply
    for _, field in ipairs(task:get_header_full('X-Mailkeep-Sender') or {}) do
      local sender = tostring(field.value):match('^%s*@@senders_mark@@ (%S+) %S+%s*$')
      reply = reply or { remove_headers = { ['X-Mailkeep-Sender'] = 0 } }
      if sender and sender ~= '-' then reply.change_from = tostring(util.decode_base64(sender)) end
    end
    if reply then task:set_milter_reply(reply) end
  end
}

-- During a reload, an old worker waits here until Mailkeep sees that its last session has ended: by itself it would end in
-- the middle of messages. At other times nobody listens, and it ends at once.
rspamd_config:register_finish_script(function(task)
  tcp.request{
    task = task,
    host = '@@drain_socket@@',
    port = 0,
    timeout = 600.0,
    data = { '\n' },
    stop_pattern = '\n',
    callback = function() end, -- closing the connection here crashes the worker
  }
end)

-- Logs a line for each message that is not accepted as it is: action, score and symbols.
rspamd_config:register_symbol{
  name = 'LOG_VERDICT',
  type = 'idempotent',
  callback = function(task)
    local action = task:get_metric_action()
    if action == 'no action' then return end
    local score = task:get_metric_score() or {0, 0}
    local symbols = {}
    for _, symbol in ipairs(task:get_symbols_all() or {}) do
      if symbol.score ~= 0 then symbols[#symbols + 1] = string.format('%s(%.2f)', symbol.name, symbol.score) end
    end
    log.errx(task, 'qid: <%s>, %s: [%s/%s] [%s]', task:get_queue_id() or '', action,
      string.format('%.2f', score[1]), string.format('%.2f', score[2]), table.concat(symbols, ','))
  end
}
