-- Make the rows of buckets again that somebody deleted. Each is as one that its holder did not release, under a token that no
-- lease has and under which no queued job of the bucket was dispatched, so that whoever takes it publishes those jobs again.
--   $1 buckets
INSERT INTO belfry.scheduler_leases (bucket, token, clean)
SELECT b,
       greatest((SELECT max(token) FROM belfry.scheduler_leases WHERE bucket BETWEEN 0 AND 63),
                (SELECT max(dispatch_fence) FROM belfry.jobs WHERE status = 2 AND (id & 63) = b), 0),
       false
FROM   unnest($1::bigint[]) AS b
ON     CONFLICT DO NOTHING;
