-- Let a role use the schema's names.
--   {role} its name
GRANT USAGE ON SCHEMA belfry TO "{role}";
