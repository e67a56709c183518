-- Let a role draw ids.
--   {role} its name
GRANT USAGE ON ALL SEQUENCES IN SCHEMA belfry TO "{role}";
