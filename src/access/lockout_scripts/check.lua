-- Whether a visitor has to wait.
-- KEYS: the counts of account and network together, of the network, and of the account; the known networks of the account
-- ARGV: the network, and the longest delay
-- Returns whether the network is known (1 or 0), and for how many milliseconds it has to wait.
local longest = tonumber(ARGV[2])

local function left(key)
    local _, locked_until = stored(key)
    local wait = math.max(0, locked_until - now)
    -- No delay is as long, so somebody else wrote it.
    if wait > longest then
        return 0
    end
    return wait
end

local known = is_known(KEYS[4], ARGV[1])
local wait = left(KEYS[1])
if not known then
    wait = math.max(wait, left(KEYS[2]), left(KEYS[3]))
end
return { known and 1 or 0, wait }
