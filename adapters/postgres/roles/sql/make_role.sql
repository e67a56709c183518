-- Make the role that a function signs in as. It has no password: tokens, or whatever the server's rules ask for, let it in.
--   {role} its name
CREATE ROLE "{role}" LOGIN;
