-- At the end of DATA Mailkeep decides by the score: Rspamd's own thresholds are off. The message is refused only if each
-- destination refuses it. If some copy is not for the inbox, or must not be forwarded, the field X-Spam sends all copies to
-- the lmtp agent, which decides for each. So does a message without an answer: nothing is refused or forwarded unchecked.
--
-- A refusal by another postfilter (`set_pre_result('reject', text, RULE)`) stands; Mailkeep records it with that rule.
-- A postfilter that wants a message in Junk sets the variable `junk_rule` to its rule.
local util = require "rspamd_util"
local ucl = require "ucl"
local log = require "rspamd_logger"
local listener = require "lua.listener"
local authentication = require "lua.authentication"

local inbound = require("lua_settings").numeric_settings_id("inbound")
local max_symbols = 200
local max_text = 500 -- octets of a header field that is recorded

local function text(value)
  value = tostring(value or '')
  if #value > max_text then value = value:sub(1, max_text) end
  while #value > 0 and not util.is_valid_utf8(value) do value = value:sub(1, -2) end
  return value
end

local function addresses(found)
  local list = {}
  for _, each in ipairs(found or {}) do list[#list + 1] = each.addr end
  return list
end

local function symbol_names(task)
  local names = {}
  for _, symbol in ipairs(task:get_symbols_all() or {}) do
    if #names < max_symbols then names[#names + 1] = symbol.name end
  end
  return table.concat(names, ' ')
end

local function from_text(task)
  local from = (task:get_from{'mime', 'orig'} or {})[1]
  return from and from.addr
end

local function facts(task, refused_by)
  local client, score = task:get_from_ip(), task:get_metric_score() or { 0 }
  return {
    queue_id = task:get_queue_id() or '',
    score = string.format('%.2f', score[1]),
    auth = authentication.results(task),
    author = authentication.author(task) or '',
    possible_authors = table.concat(authentication.possible_authors(task), ' '),
    mail_from = addresses(task:get_from{'smtp', 'orig'})[1] or '',
    client = client and client:is_valid() and tostring(client) or '',
    -- As in the envelope: Rspamd removes tags, and a bounce address has one.
    recipients = table.concat(addresses(task:get_recipients{'smtp', 'orig'}), '\n'),
    symbols = symbol_names(task),
    from = text(from_text(task)),
    subject = text(task:get_subject()),
    message_id = text(task:get_header('Message-ID')),
    size = task:get_size(),
    refused_by = refused_by,
    junk_rule = task:get_mempool():get_variable('junk_rule') or '',
  }
end

rspamd_config:register_symbol{
  name = 'SPAM_VERDICT',
  type = 'postfilter',
  priority = 9,
  flags = 'ignore_passthrough,explicit_disable',
  callback = function(task)
    if task:get_settings_id() ~= inbound then return end
    local has_result, action, _, module = task:has_pre_result()
    local is_refused = has_result and action == 'reject'
    if has_result and action == 'soft reject' then return end
    local function divert(problem)
      log.errx(task, 'qid: <%s>, no verdict: %s', task:get_queue_id() or '', problem)
      task:get_mempool():set_variable('spam', 'yes')
    end
    local body = ucl.to_format(facts(task, is_refused and tostring(module or 'filter') or ''), 'json-compact')
    local is_sent = listener.request(task, '/verdict/' .. body:gsub('\n', ' '), function(err, code, answer)
      if code ~= 200 then return divert(err or code or 'no answer') end
      local verdict = listener.parse_json(task, answer)
      if verdict.spam then task:get_mempool():set_variable('spam', 'yes') end
      if not is_refused and verdict.action then task:set_pre_result(verdict.action, verdict.text, 'verdict') end
    end)
    if not is_sent then divert('the listener could not be asked') end
  end
}
