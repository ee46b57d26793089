-- Counts a wrong password.
-- KEYS: as to check
-- ARGV: the network, and the longest delay; how many wrong passwords of account and network together have no delay, and of each
-- of them alone; the first delay, and how long guesses at an account are remembered
-- Returns the delay that begins now, or nothing.
local longest, first_delay, account_memory = tonumber(ARGV[2]), tonumber(ARGV[5]), tonumber(ARGV[6])

local function count(key, free, memory)
    local failures, locked_until = stored(key)
    if now - locked_until >= memory then
        failures = 0
    end
    failures = failures + 1
    local delay = -1
    if failures >= free then
        delay = math.min(first_delay * 2 ^ (failures - free), longest)
    end
    locked_until = now + math.max(delay, 0)
    local value = string.format('%.0f %.0f', failures, locked_until)
    redis.call('SET', key, value, 'PX', string.format('%.0f', locked_until - now + memory))
    return delay
end

local delay = count(KEYS[1], tonumber(ARGV[3]), longest)
if not is_known(KEYS[4], ARGV[1]) then
    delay = math.max(delay, count(KEYS[2], tonumber(ARGV[4]), longest))
    delay = math.max(delay, count(KEYS[3], tonumber(ARGV[4]), math.max(longest, account_memory)))
end
if delay < 0 then
    return {}
end
return { delay }
