-- Buckets are stored as "lacking at": millionths of a credit that are missing, and the time in microseconds of the store's
-- clock as of which they are. A full bucket is not stored. All numbers are whole and below 2^53, so that Lua is exact.

-- What is stored; nothing if it is not there, or not a bucket.
local function stored(key)
    -- A value of another type is an error, which is returned.
    local text = redis.pcall('GET', key)
    if type(text) ~= 'string' then
        return nil
    end
    local lacking, at = string.match(text, '^(%d+) (%d+)$')
    if not lacking then
        return nil
    end
    return math.min(tonumber(lacking), 2 ^ 53), math.min(tonumber(at), 2 ^ 53)
end

-- The position that is stored; 0 if there is none.
local function position(key)
    local text = redis.pcall('GET', key)
    if type(text) ~= 'string' or not string.match(text, '^%d+$') then
        return 0
    end
    return math.min(tonumber(text), 2 ^ 53)
end

-- Lua would write large numbers with an exponent.
local function whole(number)
    return string.format('%.0f', number)
end

