-- Keep a table from a role.
--   {table} the table   {role} whose rights end
REVOKE ALL ON belfry."{table}" FROM "{role}";
