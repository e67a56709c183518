-- Keep a secret of the installation, unless one of that name is there.
--   $1 name  $2 value in hexadecimal digits
INSERT INTO belfry.secrets (name, value) VALUES ($1::text, decode($2::text, 'hex')) ON CONFLICT (name) DO NOTHING;
