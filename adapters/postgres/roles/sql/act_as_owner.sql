-- Have a role's sessions act as the owner, so that the partitions they make belong to it.
--   {owner} the owner's name   {role} the role
ALTER ROLE "{role}" SET role = '{owner}';
