-- Make a role that nobody signs in as: the owner of the schema, or one that others are members of.
--   {role} its name
CREATE ROLE "{role}" NOLOGIN;
