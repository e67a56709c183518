-- Let a role call the functions that its statements call.
--   {role} its name
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA belfry TO "{role}";
