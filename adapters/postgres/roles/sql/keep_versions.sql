-- Leave the record of migrations to those who migrate.
--   {role} whose rights end
REVOKE INSERT, UPDATE, DELETE ON belfry.schema_versions FROM "{role}";
