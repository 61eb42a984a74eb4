-- Requests to the listener of Mailkeep's process `keys`: a line each way, on a Unix socket.
local tcp = require "rspamd_tcp"
local ucl = require "ucl"
local log = require "rspamd_logger"

local listener = {}

function listener.encode(text)
  return (text:gsub('%W', function(c) return string.format('%%%02X', c:byte()) end))
end

-- Sends a request. `on_response` gets an error, or status and body. `timeout`: in seconds, 5 without. Returns false if it can't be sent.
function listener.request(task, path, on_response, timeout)
  return tcp.request{
    task = task,
    host = '@@keys_socket@@',
    port = 0,
    timeout = timeout or 5.0,
    data = { path, '\n' },
    stop_pattern = '\n',
    callback = function(err, data, conn)
      if conn then conn:close() end
      local code, body
      if not err and data then code, body = tostring(data):match('^(%d%d%d) ([^\n]*)') end
      on_response(err, tonumber(code), body or '')
    end,
  }
end

function listener.parse_json(task, body)
  local parser = ucl.parser()
  local is_parsed, problem = parser:parse_string(body)
  if is_parsed then return parser:get_object() end
  log.errx(task, 'the response of the keys listener is not JSON: %s', problem)
  return {}
end

return listener
