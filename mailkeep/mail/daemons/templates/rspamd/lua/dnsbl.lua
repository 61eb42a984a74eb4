-- DNS lists of client addresses (`filter.dnsbl`, RFC 5782).
--
-- An address that is listed adds a score only if the list passes its own test at the same time (section 5): 127.0.0.2 is
-- listed, 127.0.0.1 is not. A list that has expired, contains every address, or does not answer, never counts. These two
-- names are asked only for listed addresses, and the resolver has them in its cache.

local inbound = require("lua_settings").numeric_settings_id("inbound")
local lists = @@dnsbl@@
local not_found = { ['requested record is not found'] = true, ['no records with this name'] = true }
local v6_zeros = ('0.'):rep(16)
local tests = {
  [4] = { listed = '2.0.0.127', not_listed = '1.0.0.127' },
  [6] = {
    listed = '2.0.0.0.0.0.f.7.f.f.f.f.' .. v6_zeros .. '0.0.0.0',
    not_listed = '1.0.0.0.0.0.f.7.f.f.f.f.' .. v6_zeros .. '0.0.0.0',
  },
}

-- Calls `use` with the set of codes in the answer: empty if the name does not exist, nil without a usable answer. Codes in
-- 127.255.255.0/24 are errors, and addresses outside of 127.0.0.0/8 are not from a list.
local function ask(task, name, use)
  local is_sent = task:get_resolver():resolve_a{
    task = task,
    name = name,
    callback = function(_, _, results, err)
      if not results then return use(not_found[err] and {} or nil) end
      local codes = {}
      for _, result in ipairs(results) do
        local code = tostring(result)
        if not code:match('^127%.') or code:match('^127%.255%.255%.') then return use(nil) end
        codes[code] = true
      end
      use(codes)
    end,
  }
  if not is_sent then use(nil) end
end

-- Calls `use` if the list works.
local function if_working(task, zone, version, use)
  local test = tests[version]
  ask(task, test.listed .. '.' .. zone, function(listed)
    if not listed or not next(listed) then return end
    ask(task, test.not_listed .. '.' .. zone, function(not_listed)
      if not_listed and not next(not_listed) then use() end
    end)
  end)
end

local function find_rows(list, codes)
  local rows = {}
  for _, row in ipairs(list.rows) do
    for _, code in ipairs(row.codes) do
      if codes[code] then
        rows[#rows + 1] = { symbol = row.symbol, code = code }
        break
      end
    end
  end
  return rows
end

if #lists > 0 then
  local id = rspamd_config:register_symbol{
    name = 'DNSBL',
    type = 'callback',
    callback = function(task)
      local client = task:get_from_ip()
      if task:get_settings_id() ~= inbound or not client or not client:is_valid() or client:is_local() then return end
      local reversed = table.concat(client:inversed_str_octets(), '.')
      for _, list in ipairs(lists) do
        ask(task, reversed .. '.' .. list.zone, function(codes)
          local rows = find_rows(list, codes or {})
          if #rows == 0 then return end
          if_working(task, list.zone, client:get_version(), function()
            for _, row in ipairs(rows) do task:insert_result(row.symbol, 1.0, row.code) end
          end)
        end)
      end
    end,
  }
  for _, list in ipairs(lists) do
    for _, row in ipairs(list.rows) do
      rspamd_config:register_symbol{ name = row.symbol, type = 'virtual', parent = id, score = row.score, group = 'dnsbl' }
    end
  end
end
