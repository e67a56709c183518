-- Let a role read and write all tables. It may not empty them at once, nor change what they are.
--   {role} its name
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA belfry TO "{role}";
