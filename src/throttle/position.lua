-- Remembers how far a caller has written, for as long as that matters.
-- KEYS[1]: where; ARGV: the position, and for how many milliseconds it is kept
-- Updates may become known in any order: the furthest position counts.
local furthest = math.max(position(KEYS[1]), tonumber(ARGV[1]))
redis.call('SET', KEYS[1], whole(furthest), 'PX', ARGV[2])
return { 1 }
