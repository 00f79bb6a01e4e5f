-- ARGV[3]: the limit. Returns how many expired entries were deleted.
return reap(tonumber(ARGV[3]))
