-- Takes credits out of a bucket, or nothing if it has fewer.
-- KEYS[1]: the bucket; KEYS[2]: how far its caller has written (position.lua)
-- ARGV, in millionths of a credit: the capacity, the credits that are restored in a microsecond, and those to be taken; and 1 to
-- take them, or 0 to look only
-- Returns whether the bucket covers them (1 or 0), what is lacking then, after how many microseconds it covers them, and how far
-- its caller has written, or 0.

-- Further ahead of the store's clock was no store that this one replaced.
local MINUTE = 60 * 1000000

local capacity, rate, credits = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local changed = false

local lacking, at = stored(KEYS[1])
if not lacking then
    lacking, at = 0, now
elseif at > now + MINUTE then
    at, changed = now, true
elseif now > at then
    lacking, at = math.max(0, lacking - (now - at) * rate), now
end
-- The caller had a larger bucket, or somebody else wrote it. It is empty, and is filled from now on.
if lacking > capacity then
    lacking, changed = capacity, true
end

local needed = lacking + credits
local covered = credits == 0 or needed <= capacity
if covered and credits > 0 and ARGV[4] == '1' then
    lacking, changed = lacking + credits, true
end
if changed then
    local value = whole(lacking) .. ' ' .. whole(at)
    if rate > 0 then
        -- Full again by then, and so as good as not there.
        local life = (at - now) / 1000 + lacking / rate / 1000
        redis.call('SET', KEYS[1], value, 'PX', whole(math.ceil(life) + 1))
    else
        redis.call('SET', KEYS[1], value)
    end
end
local wait = 0
if not covered and rate > 0 then
    wait = math.ceil((needed - capacity) / rate)
end
return { covered and 1 or 0, lacking, wait, position(KEYS[2]) }
