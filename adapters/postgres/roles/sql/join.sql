-- Make a role a member of another one.
--   {group} that one   {role} the member
GRANT "{group}" TO "{role}";
