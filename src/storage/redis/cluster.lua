-- While a Cluster moves our slot to another node, the keys are split between both nodes, and a key that is missing on
-- one may exist on the other. A script that went on would take a used code for an unknown one, or stop half-way, so it
-- is refused before it begins. Two keys that never exist reveal the state: the old node refuses a missing key, and the
-- new one refuses two keys of which one is missing.
local here = redis.pcall('EXISTS', ARGV[1] .. 'nowhere:1', ARGV[1] .. 'nowhere:2')
if type(here) == 'table' and here.err then return here end
