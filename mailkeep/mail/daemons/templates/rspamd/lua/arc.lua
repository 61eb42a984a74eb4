-- Seals forwarded mail (ARC, RFC 8617) with the RSA key of the domain that forwards it; docs/decisions/0098-arc.md.
--
-- The policy agent names the domain in X-Mailkeep-Sender, which only mail with external copies has. Its key comes from the
-- listener of Mailkeep's process `keys` while the other checks run. Without a key the message leaves unsealed.
--
-- Rspamd's module `arc` validates the chain of the message (symbols ARC_*). It does not seal: it takes keys from files, Redis
-- or HTTP only, seals a chain of two or more in the wrong order (5.1.1), and broken chains not as 5.1.2 says.
local hash = require "rspamd_cryptobox_hash"
local log = require "rspamd_logger"
local listener = require "lua.listener"
local lua_auth_results = require "lua_auth_results"
local lua_mime = require "lua_mime"
local lua_util = require "lua_util"
local rsa = require "rspamd_rsa"
local rsa_privkey = require "rspamd_rsa_privkey"
local util = require "rspamd_util"

local inbound = require("lua_settings").numeric_settings_id("inbound")
local max_sets = 50 -- RFC 8617 4.2.1
local set_fields = { 'ARC-Authentication-Results', 'ARC-Message-Signature', 'ARC-Seal' } -- in the order of the seal
local results = { ARC_NA = 'none', ARC_ALLOW = 'pass', ARC_REJECT = 'fail' } -- none of them: not validated
local messages_unsealed = 0 -- since the listener has last answered

-- The domain that forwards the message; nil if it has no external copies.
local function forwarding_domain(task)
  for _, field in ipairs(task:get_header_full('X-Mailkeep-Sender') or {}) do
    local domain = tostring(field.value):match('^%s*@@senders_mark@@ %S+ (%S+)%s*$')
    if domain then return domain end
  end
end

-- The raw fields of the sets of a message, by instance and name; the highest instance; whether the last seal has cv=fail.
local function read_sets(task)
  local sets, last = {}, 0
  for _, name in ipairs(set_fields) do
    for _, field in ipairs(task:get_header_full(name) or {}) do
      local instance = tonumber(tostring(field.value):match('^%s*i%s*=%s*(%d+)') or tostring(field.value):match(';%s*i%s*=%s*(%d+)'))
      if instance then
        sets[instance] = sets[instance] or {}
        sets[instance][name] = tostring(field.value)
        last = math.max(last, instance)
      end
    end
  end
  local seal = last > 0 and sets[last]['ARC-Seal'] or ''
  return sets, last, (';' .. seal):match(';%s*cv%s*=%s*fail%f[^%w]') ~= nil
end

-- Whether each set up to the highest instance has all its fields: the module `arc` does not look at all of them.
local function is_complete(sets, last)
  for instance = 1, last do
    for _, name in ipairs(set_fields) do
      if not (sets[instance] and sets[instance][name]) then return false end
    end
  end
  return true
end

local function validate(task)
  for symbol, result in pairs(results) do
    if task:has_symbol(symbol) then return result end
  end
end

local function seal(task, key)
  local cv = validate(task)
  if not cv then return end -- not validated: a seal says what the validation found
  local sets, last, has_failed = read_sets(task)
  local instance = last + 1
  -- A chain that has failed ends: nobody adds to it.
  if has_failed or instance > max_sets then return end
  if not is_complete(sets, last) then cv = 'fail' end
  local signed, signature = rspamd_plugins.dkim.sign(task, {
    domain = key.domain, selector = key.selector, rawkey = key.key, alg = 'rsa',
    arc_cv = cv, arc_idx = instance, no_cache = true, sign_type = 'arc-sign',
  })
  local private = signed and rsa_privkey.load_pem(key.key)
  if not private then
    log.errx(task, 'sealing with key %s of %s failed', key.selector, key.domain)
    return
  end
  local canonical = rspamd_plugins.dkim.canon_header_relaxed
  local options = rspamd_config:get_all_opt('milter_headers').routines['authentication-results']
  local results_text = lua_auth_results.gen_auth_results(task, lua_util.override_defaults(lua_auth_results.default_settings, options))
  sets[instance] = {
    ['ARC-Authentication-Results'] =
      lua_util.fold_header(task, set_fields[1], string.format('i=%d; %s', instance, results_text or ''), ';'),
    ['ARC-Message-Signature'] = lua_util.fold_header(task, set_fields[2], signature),
  }
  local digest = hash.create_specific('sha256')
  for i = cv == 'fail' and instance or 1, instance do -- 5.1.1, 5.1.2
    for _, name in ipairs(set_fields) do
      if sets[i][name] then digest:update(canonical(name, sets[i][name])) end
    end
  end
  local unsigned = string.format('i=%d; s=%s; d=%s; t=%d; a=rsa-sha256; cv=%s; b=', instance, key.selector, key.domain,
    math.floor(util.get_time()), cv)
  digest:update('arc-seal:' .. unsigned)
  local line_end = task:has_flag('milter') and 'lf' or task:get_newlines_type()
  local text = unsigned .. tostring(rsa.sign_memory(private, digest:bin()):base64(70, line_end))
  lua_mime.modify_headers(task, {
    add = {
      [set_fields[1]] = { order = 1, value = sets[instance][set_fields[1]] },
      [set_fields[2]] = { order = 1, value = sets[instance][set_fields[2]] },
      [set_fields[3]] = { order = 1, value = lua_util.fold_header(task, set_fields[3], text) },
    },
    order = set_fields,
  })
end

local id = rspamd_config:register_symbol{
  name = 'SEALING_KEY',
  type = 'normal',
  flags = 'ignore_passthrough',
  callback = function(task)
    local domain = task:get_settings_id() == inbound and forwarding_domain(task)
    if not domain then return end
    local waiting = messages_unsealed
    local function on_response(err, code, body)
      if code == 200 then
        messages_unsealed = math.max(0, messages_unsealed - waiting)
        local key = listener.parse_json(task, body)
        if key.key then task:cache_set('mailkeep-sealing-key', key) end
      else
        messages_unsealed = messages_unsealed + 1
        log.errx(task, 'the message is forwarded without a seal of %s: %s', domain, err or code)
      end
    end
    local path = string.format('/seals/%s/%d', listener.encode(domain), waiting)
    if not listener.request(task, path, on_response, 2.0) then on_response('could not be requested') end
  end,
}
rspamd_config:set_metric_symbol{ name = 'SEALING_KEY', score = 0.0 }

-- After everything that decides: a refused message needs no seal.
rspamd_config:register_symbol{
  name = 'SEAL',
  type = 'idempotent',
  flags = 'ignore_passthrough',
  callback = function(task)
    local key = task:cache_get('mailkeep-sealing-key')
    local action = task:get_metric_action()
    if key and action ~= 'reject' and action ~= 'soft reject' then seal(task, key) end
  end,
}
