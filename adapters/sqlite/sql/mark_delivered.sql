-- Note that jobs of these types bring targets of their own.
--   ?1 types as a JSON array
INSERT INTO job_types (type, delivered) SELECT value, 1 FROM json_each(?1) WHERE true
ON CONFLICT (type) DO UPDATE SET delivered = 1 WHERE delivered = 0
