-- Have a role's sessions act as that role.
--   {role} its name
ALTER ROLE "{role}" RESET role;
