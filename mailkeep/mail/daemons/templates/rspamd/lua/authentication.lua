-- The results of the sender's authentication, in fixed words, and the author that they are about.
--
-- `from=pass`: the author is proved: by DMARC, or, if the author's domain has no DMARC record, by an SPF or DKIM domain of
-- the same organisation (relaxed alignment, RFC 7489 3.1). Nobody else may parse From: a second parser might find another
-- address in it.
local util = require "rspamd_util"

local methods = {
  { 'spf', { R_SPF_ALLOW = 'pass', R_SPF_FAIL = 'fail', R_SPF_SOFTFAIL = 'softfail', R_SPF_NEUTRAL = 'neutral',
             R_SPF_NA = 'none', R_SPF_DNSFAIL = 'temperror', R_SPF_PERMFAIL = 'permerror' } },
  { 'dkim', { R_DKIM_ALLOW = 'pass', R_DKIM_REJECT = 'fail', R_DKIM_NA = 'none', R_DKIM_TEMPFAIL = 'temperror',
              R_DKIM_PERMFAIL = 'permerror' } },
  { 'dmarc', { DMARC_POLICY_ALLOW = 'pass', DMARC_POLICY_REJECT = 'fail', DMARC_POLICY_QUARANTINE = 'fail',
               DMARC_POLICY_SOFTFAIL = 'fail', DMARC_NA = 'none', DMARC_DNSFAIL = 'temperror',
               DMARC_BAD_POLICY = 'permerror' } },
}
-- The best of several signatures counts.
local order = { 'pass', 'fail', 'softfail', 'neutral', 'temperror', 'permerror', 'none' }
local max_address = 254 -- octets (RFC 5321 4.5.3.1.3)
local max_authors = 900 -- octets of all addresses in X-Rspamd-Authors
local max_value = 2000 -- octets of a value of From, as in mail/message/author: some patterns take quadratic time

-- Whether this is a display name: words, quoted texts and encoded words, without comments and other specials.
local function is_display_name(text)
  local rest = text:gsub('"[^"\\]*"', '')
  return not rest:find('[%c"(),:;<>@%[%]\\]')
end

-- Whether this is local-part@domain without quotes, comments, white space, encoded words and address literals.
local function is_plain_address(address)
  local local_part, domain = address:match('^([^%c%s"(),:;<>@%[%]\\]+)@([%w%.%-\128-\255]+)$')
  return local_part and #address <= max_address and not local_part:find('=?', 1, true) and not local_part:find('%.%.')
    and not local_part:find('^%.') and not local_part:find('%.$') and not domain:find('%.%.') and not domain:find('^[%.%-]')
    and not domain:find('[%.%-]$') and util.is_valid_utf8(address)
end

-- The one address in a value of From, if it has a form that all programs read alike: an address, or a display name and an
-- address in angle brackets. Groups, lists and comments have none. Runs of spaces are reduced first: without that, the time
-- for a pattern grows with the square of their length.
local function strict_address(value)
  if #value > max_value then return nil end
  value = value:gsub('\r?\n([ \t])', '%1'):gsub('[ \t]+', ' '):match('^ ?(.-) ?$')
  local name, address = value:match('^(.-)<([^<>]*)>$')
  if not name then name, address = '', value end
  if is_display_name(name) and is_plain_address(address) then return address end
end

-- The values of the From fields, also of those that only lenient programs read as one.
local function from_values(task)
  local values, lines = {}, nil
  for line in tostring(task:get_raw_headers() or ''):gmatch('[^\n]+') do
    if not line:find('^[ \t]') then
      local name, value = line:match('^([^:]*):(.*)$')
      lines = name and name:lower():match('^from%s*$') and { value }
      if lines then values[#values + 1] = lines end
    elseif lines then
      lines[#lines + 1] = line
    end
  end
  for number, each in ipairs(values) do values[number] = table.concat(each) end
  return values
end

-- The author as Rspamd parses it, as a table; nil if there is none, or if programs may show another one.
local function find_author(task)
  local cached = task:cache_get('mailkeep_author')
  if cached ~= nil then return cached or nil end
  local found = false
  local from, fields = task:get_from{'mime', 'orig'}, task:get_header_full('From') or {}
  if from and #from == 1 and #fields == 1 and #from_values(task) == 1 then
    local address = strict_address(tostring(fields[1].value or ''))
    if address and address:lower() == (from[1].addr or ''):lower() then
      found = { address = address:lower(), domain = address:lower():match('@(.+)$') }
    end
  end
  task:cache_set('mailkeep_author', found)
  return found or nil
end

-- The addresses that some program may show as the author, without comments and quotes, in lower case: one value of From.
local function lenient_addresses(value)
  local text = value:gsub('%s+', ' '):gsub('%c', '')
  if not util.is_valid_utf8(text) then text = text:gsub('[\128-\255]', '?') end
  text = text:gsub('\\(%w)', '%1'):gsub('"([^%s"\\@]+)" ?@', '%1@'):gsub('"[^"]*"', ' ')
  for _ = 1, 3 do text = text:gsub('%([^()]*%)', '') end
  text = text:gsub(' +', ' '):gsub(' ?([@.]) ?', '%1')
  local found = {}
  -- %f: only from the beginning of a word, so that the time is linear.
  for local_part, domain in text:gmatch('%f[^%c%s"(),:;<>@%[%]\\]([^%c%s"(),:;<>@%[%]\\]+)@([%w%.%-\128-\255]+)') do
    local address = local_part .. '@' .. domain:match('^(.-)%.?$')
    if is_plain_address(address) then found[#found + 1] = address:lower() end
  end
  return found
end

local function is_aligned(domain, organisation)
  return domain and domain ~= '' and util.get_tld(domain:lower()) == organisation
end

local function signing_domains(task)
  local domains = {}
  for _, symbol in ipairs(task:get_symbol('R_DKIM_ALLOW') or {}) do
    for _, option in ipairs(symbol.options or {}) do domains[#domains + 1] = option:match('^([^:]+):') end
  end
  return domains
end

-- The domain that SPF is about: of the envelope sender, or, without one, the host name in HELO (RFC 7208 2.4).
local function spf_domain(task)
  local domain = ((task:get_from('smtp') or {})[1] or {}).domain or ''
  return domain ~= '' and domain or task:get_helo()
end

local function author_result(task, results)
  local author = find_author(task)
  if not author then return 'fail' end
  if results.dmarc == 'pass' or results.dmarc == 'fail' then return results.dmarc end
  if results.dmarc == 'temperror' then return 'temperror' end -- it may have a record
  local organisation = util.get_tld(author.domain)
  if results.spf == 'pass' and is_aligned(spf_domain(task), organisation) then return 'pass' end
  for _, domain in ipairs(signing_domains(task)) do
    if is_aligned(domain, organisation) then return 'pass' end
  end
  local is_uncertain = results.spf == 'temperror' or results.dkim == 'temperror'
  return is_uncertain and 'temperror' or 'fail'
end

local authentication = {}

-- The results as text: `spf=pass; dkim=none; dmarc=none; from=pass`.
function authentication.results(task)
  local results, words = {}, {}
  for _, method in ipairs(methods) do
    local found = {}
    for symbol, result in pairs(method[2]) do
      if task:has_symbol(symbol) then found[result] = true end
    end
    for _, result in ipairs(order) do
      if found[result] then
        results[method[1]] = result
        words[#words + 1] = method[1] .. '=' .. result
        break
      end
    end
  end
  words[#words + 1] = 'from=' .. author_result(task, results)
  return table.concat(words, '; ')
end

-- The address of the author, in lower case; nil if there is none or several.
function authentication.author(task)
  local author = find_author(task)
  return author and author.address
end

-- Of a message without such an author, the addresses in From that some program may show as one: deny entries match them.
function authentication.possible_authors(task)
  local found, seen, size = {}, {}, 0
  if find_author(task) then return found end
  for _, value in ipairs(from_values(task)) do
    for _, address in ipairs(lenient_addresses(value)) do
      size = size + (seen[address] and 0 or #address + 1)
      if size > max_authors then return found end
      if not seen[address] then found[#found + 1] = address end
      seen[address] = true
    end
  end
  return found
end

return authentication
