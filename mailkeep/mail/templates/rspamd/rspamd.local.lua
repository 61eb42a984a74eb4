-- Outbound mail leaves signed or not at all: where no key signed (the keys' listener away, a From that is not ours, a
-- key that does not open), it is put off. The numeric id is how Rspamd knows `settings_id` of the outbound milter.
local outbound = require("lua_settings").numeric_settings_id("outbound")

rspamd_config:register_symbol{
  name = 'OUTBOUND_UNSIGNED',
  type = 'postfilter',
  priority = 9,
  flags = 'explicit_disable,ignore_passthrough',
  callback = function(task)
    if task:get_settings_id() == outbound and not task:has_symbol('DKIM_SIGNED') then
      task:insert_result('OUTBOUND_UNSIGNED', 0.0)
      task:set_pre_result('soft reject', 'DKIM signing temporarily unavailable', 'outbound')
    end
  end
}
