# PostgreSQL, as an RDS instance or as Aurora Serverless v2. Functions sign in by IAM; the master's password is made and
# kept by RDS, and read by the migrate function only.
locals {
  managed   = var.database.kind != "existing"
  is_rds    = var.database.kind == "rds"
  is_aurora = var.database.kind == "aurora"
  major     = split(".", var.database.engine_version)[0]

  # Memory of the classes of RDS, in GiB: a t, m or r class, and its size.
  class      = split(".", var.database.instance_class)
  class_kind = try(substr(local.class[1], 0, 1), "")
  class_size = try(local.class[2], "")
  large      = lookup({ t = 8, m = 8, r = 16 }, local.class_kind, 0)
  memory_gib = try(
    lookup({ micro = 1, small = 2, medium = 4, large = local.large, xlarge = 2 * local.large }, local.class_size, null),
    null,
  ) != null ? lookup({ micro = 1, small = 2, medium = 4, large = local.large, xlarge = 2 * local.large }, local.class_size, 0) : try(tonumber(regex("^([0-9]+)xlarge$", local.class_size)[0]) * 2 * local.large, 0)

  # PostgreSQL on RDS takes memory / 9531392, at most 5000; of the memory a good part is the system's. Aurora with a minimum of at
  # most 0.5 ACUs takes at most 2000.
  known_connections = (
    local.is_aurora ? min(floor(var.database.max_capacity * 2 * 0.75 * 112.6), var.database.min_capacity <= 0.5 ? 2000 : 5000) :
    local.is_rds && local.memory_gib > 0 ? min(floor(local.memory_gib * 0.75 * 112.6), 5000) : null
  )
  max_connections = var.database.max_connections != null ? var.database.max_connections : local.known_connections

  database_host        = local.is_rds ? one(aws_db_instance.this[*].address) : one(aws_rds_cluster.this[*].endpoint)
  database_port        = local.is_rds ? one(aws_db_instance.this[*].port) : one(aws_rds_cluster.this[*].port)
  database_resource_id = local.is_rds ? one(aws_db_instance.this[*].resource_id) : one(aws_rds_cluster.this[*].cluster_resource_id)
  master_secret_arn    = local.is_rds ? try(aws_db_instance.this[0].master_user_secret[0].secret_arn, null) : try(aws_rds_cluster.this[0].master_user_secret[0].secret_arn, null)

  tls_parameters = "sslmode=verify-full&sslrootcert=${var.database.root_certificates}"
  database_settings = {
    for role in ["api", "tick", "worker"] : role => local.managed ? {
      BELFRY_DATABASE_URL = "postgres://belfry_${role}@${local.database_host}:${local.database_port}/belfry?${local.tls_parameters}"
      BELFRY_RDS_IAM      = "true"
    } : { BELFRY_DATABASE_URL = var.database.secret_arn, BELFRY_RDS_IAM = "false" }
  }

  parameters = {
    "rds.force_ssl"                       = "1"
    "idle_in_transaction_session_timeout" = "60000" # one transaction that is left open makes every claim slow
    "random_page_cost"                    = "1.1"
  }
}

resource "aws_db_subnet_group" "this" {
  count       = local.managed ? 1 : 0
  name        = var.name
  description = "Subnets of the database of ${var.name}"
  subnet_ids  = local.subnet_ids
  tags        = local.tags
}

resource "aws_security_group" "database" {
  count       = local.managed ? 1 : 0
  name        = "${var.name}-database"
  description = "Database of Belfry: only its functions come in"
  vpc_id      = local.vpc_id
  tags        = merge(local.tags, { Name = "${var.name}-database" })
}

resource "aws_vpc_security_group_ingress_rule" "database" {
  count                        = local.managed ? 1 : 0
  security_group_id            = aws_security_group.database[0].id
  referenced_security_group_id = aws_security_group.functions[0].id
  ip_protocol                  = "tcp"
  from_port                    = 5432
  to_port                      = 5432
  description                  = "PostgreSQL, from the functions"
}

resource "aws_db_parameter_group" "this" {
  count       = local.is_rds ? 1 : 0
  name        = "${var.name}-postgres${local.major}"
  family      = "postgres${local.major}"
  description = "PostgreSQL of ${var.name}"
  tags        = local.tags

  dynamic "parameter" {
    for_each = local.parameters
    content {
      name  = parameter.key
      value = parameter.value
    }
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_db_instance" "this" {
  count                               = local.is_rds ? 1 : 0
  identifier                          = var.name
  engine                              = "postgres"
  engine_version                      = var.database.engine_version
  instance_class                      = var.database.instance_class
  allocated_storage                   = var.database.storage_gb
  max_allocated_storage               = var.database.max_storage_gb
  storage_type                        = "gp3"
  storage_encrypted                   = true
  db_name                             = "belfry"
  username                            = "belfry_master"
  manage_master_user_password         = true
  iam_database_authentication_enabled = true
  multi_az                            = var.database.multi_az
  db_subnet_group_name                = aws_db_subnet_group.this[0].name
  vpc_security_group_ids              = [aws_security_group.database[0].id]
  publicly_accessible                 = false
  parameter_group_name                = aws_db_parameter_group.this[0].name
  ca_cert_identifier                  = "rds-ca-rsa2048-g1"
  snapshot_identifier                 = var.database.snapshot
  backup_retention_period             = var.database.backup_days
  backup_window                       = "03:00-03:30"
  maintenance_window                  = "sun:04:00-sun:04:30"
  copy_tags_to_snapshot               = true
  auto_minor_version_upgrade          = true
  allow_major_version_upgrade         = true
  deletion_protection                 = var.deletion_protection
  skip_final_snapshot                 = !var.deletion_protection
  final_snapshot_identifier           = var.deletion_protection ? "${var.name}-last" : null
  enabled_cloudwatch_logs_exports     = ["postgresql"]
  tags                                = local.tags

  depends_on = [aws_cloudwatch_log_group.database, terraform_data.checks]
}

resource "aws_cloudwatch_log_group" "database" {
  count             = local.managed ? 1 : 0
  name              = local.is_rds ? "/aws/rds/instance/${var.name}/postgresql" : "/aws/rds/cluster/${var.name}/postgresql"
  retention_in_days = var.log_retention_days
  tags              = local.tags
}

# ---- Aurora Serverless v2 ----
resource "aws_rds_cluster_parameter_group" "this" {
  count       = local.is_aurora ? 1 : 0
  name        = "${var.name}-aurora-postgresql${local.major}"
  family      = "aurora-postgresql${local.major}"
  description = "Aurora PostgreSQL of ${var.name}"
  tags        = local.tags

  dynamic "parameter" {
    for_each = local.parameters
    content {
      name  = parameter.key
      value = parameter.value
    }
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_rds_cluster" "this" {
  count                               = local.is_aurora ? 1 : 0
  cluster_identifier                  = var.name
  engine                              = "aurora-postgresql"
  engine_mode                         = "provisioned"
  engine_version                      = var.database.engine_version
  database_name                       = "belfry"
  master_username                     = "belfry_master"
  manage_master_user_password         = true
  iam_database_authentication_enabled = true
  storage_encrypted                   = true
  db_subnet_group_name                = aws_db_subnet_group.this[0].name
  vpc_security_group_ids              = [aws_security_group.database[0].id]
  db_cluster_parameter_group_name     = aws_rds_cluster_parameter_group.this[0].name
  snapshot_identifier                 = var.database.snapshot
  backup_retention_period             = var.database.backup_days
  preferred_backup_window             = "03:00-03:30"
  preferred_maintenance_window        = "sun:04:00-sun:04:30"
  copy_tags_to_snapshot               = true
  allow_major_version_upgrade         = true
  deletion_protection                 = var.deletion_protection
  skip_final_snapshot                 = !var.deletion_protection
  final_snapshot_identifier           = var.deletion_protection ? "${var.name}-last" : null
  enabled_cloudwatch_logs_exports     = ["postgresql"]
  tags                                = local.tags

  serverlessv2_scaling_configuration {
    min_capacity             = var.database.min_capacity
    max_capacity             = var.database.max_capacity
    seconds_until_auto_pause = var.database.min_capacity == 0 ? var.database.pause_after_seconds : null
  }

  depends_on = [aws_cloudwatch_log_group.database, terraform_data.checks]

  lifecycle {
    ignore_changes = [scaling_configuration] # of the first Serverless, which this is not
  }
}

resource "aws_rds_cluster_instance" "this" {
  count                        = local.is_aurora ? (var.database.multi_az ? 2 : 1) : 0
  identifier                   = "${var.name}-${count.index + 1}"
  cluster_identifier           = aws_rds_cluster.this[0].id
  engine                       = aws_rds_cluster.this[0].engine
  engine_version               = aws_rds_cluster.this[0].engine_version
  instance_class               = "db.serverless"
  db_subnet_group_name         = aws_db_subnet_group.this[0].name
  publicly_accessible          = false
  ca_cert_identifier           = "rds-ca-rsa2048-g1"
  auto_minor_version_upgrade   = true
  preferred_maintenance_window = "sun:04:30-sun:05:00"
  tags                         = local.tags
}
