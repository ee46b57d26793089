-- A password was right.
-- KEYS: as to check
-- ARGV: the network, how many networks are known at most, and for how many milliseconds
redis.call('DEL', KEYS[1])
if not is_known(KEYS[4], ARGV[1]) then
    local failures, locked_until = stored(KEYS[2])
    if failures > 0 then
        redis.call('SET', KEYS[2], string.format('%.0f %.0f', failures - 1, locked_until), 'KEEPTTL')
    end
end
if redis.call('TYPE', KEYS[4]).ok ~= 'list' then
    redis.call('DEL', KEYS[4])
end
redis.call('LREM', KEYS[4], 0, ARGV[1])
redis.call('LPUSH', KEYS[4], ARGV[1])
redis.call('LTRIM', KEYS[4], 0, ARGV[2] - 1)
redis.call('PEXPIRE', KEYS[4], ARGV[3])
return {}
