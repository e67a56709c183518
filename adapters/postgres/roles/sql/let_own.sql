-- Let the role that migrates act as the owner, and the owner make its schema in this database.
--   {owner} the owner's name
DO $$
BEGIN
    EXECUTE format('GRANT %I TO %I', '{owner}', current_user);
    EXECUTE format('GRANT CONNECT, CREATE ON DATABASE %I TO %I', current_database(), '{owner}');
END $$;
