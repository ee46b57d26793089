-- Puts credits back. What was restored since they were taken is not taken back.
-- KEYS[1]: the bucket
-- ARGV[1]: millionths of a credit
local lacking, at = stored(KEYS[1])
if not lacking then
    return {}
end
lacking = lacking - ARGV[1]
if lacking > 0 then
    redis.call('SET', KEYS[1], whole(lacking) .. ' ' .. whole(at), 'KEEPTTL')
else
    redis.call('DEL', KEYS[1])
end
return {}
