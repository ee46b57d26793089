-- Wrong passwords are stored as "count until": how many there were, and the end of the delay, in milliseconds of the store's
-- clock. The networks that are known for an account are a list, the last used one first.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- What is stored; zeros if it is not there, or something else.
local function stored(key)
    -- A value of another type is an error, which is returned.
    local text = redis.pcall('GET', key)
    if type(text) ~= 'string' then
        return 0, 0
    end
    local count, locked_until = string.match(text, '^(%d+) (%d+)$')
    if not count then
        return 0, 0
    end
    return math.min(tonumber(count), 1000000), math.min(tonumber(locked_until), 2 ^ 53)
end

local function is_known(key, network)
    local networks = redis.pcall('LRANGE', key, 0, -1)
    for _, known in ipairs(networks) do
        if known == network then
            return true
        end
    end
    return false
end

