-- Make the role that owns the schema. Nobody signs in as it.
--   {role} its name
CREATE ROLE "{role}" NOLOGIN;
