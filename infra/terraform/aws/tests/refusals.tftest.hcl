# What does not fit together is refused before anything is made.
mock_provider "aws" {
  mock_data "aws_caller_identity" {
    defaults = { account_id = "123456789012" }
  }
  mock_data "aws_partition" {
    defaults = { partition = "aws" }
  }
  mock_data "aws_region" {
    defaults = { id = "eu-west-1", name = "eu-west-1" }
  }
  mock_data "aws_availability_zones" {
    defaults = { names = ["eu-west-1a", "eu-west-1b", "eu-west-1c"] }
  }
}

variables {
  code = { s3_bucket = "artifacts", version = "1" }
}

run "too_many_connections" {
  command = plan
  variables {
    workers = { default = { max_concurrency = 200 } }
  }
  expect_failures = [terraform_data.checks]
}

run "api_counts_too" {
  command = plan
  variables {
    api = { concurrency = 80 }
  }
  expect_failures = [terraform_data.checks]
}

run "unknown_class" {
  command = plan
  variables {
    database = { instance_class = "db.z1d.large" }
  }
  expect_failures = [terraform_data.checks]
}

run "existing_without_connections" {
  command = plan
  variables {
    database = { kind = "existing", secret_arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db" }
  }
  expect_failures = [terraform_data.checks]
}

run "short_visibility" {
  command = plan
  variables {
    workers = { bulk = { timeout_seconds = 900, visibility_seconds = 900 } }
  }
  expect_failures = [terraform_data.checks]
}

run "economy_without_queues" {
  command = plan
  variables {
    tick        = { mode = "economy" }
    direct_mode = true
    worker_long = { image = "example.com/w:1" }
  }
  expect_failures = [terraform_data.checks]
}

run "direct_without_worker" {
  command = plan
  variables {
    direct_mode = true
  }
  expect_failures = [terraform_data.checks]
}

run "pause_without_sleep" {
  command = plan
  variables {
    database = { kind = "aurora", min_capacity = 0 }
  }
  expect_failures = [terraform_data.checks]
}

run "secret_elsewhere" {
  command = plan
  variables {
    database = { kind = "existing", max_connections = 100, secret_arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:db" }
  }
  expect_failures = [terraform_data.checks]
}

run "topic_elsewhere" {
  command = plan
  variables {
    alarms = { topic_arn = "arn:aws:sns:us-east-1:123456789012:x" }
  }
  expect_failures = [terraform_data.checks]
}

run "unlisted_secret" {
  command = plan
  variables {
    settings = { BELFRY_TOKENS = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:t" }
  }
  expect_failures = [terraform_data.checks]
}

run "webhooks_without_a_way" {
  command = plan
  variables {
    network = { egress = "endpoints" }
  }
  expect_failures = [terraform_data.checks]
}

run "long_worker_without_vpc" {
  command = plan
  variables {
    database    = { kind = "existing", max_connections = 100, secret_arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db" }
    worker_long = { image = "example.com/w:1" }
  }
  expect_failures = [terraform_data.checks]
}

run "long_name" {
  command = plan
  variables {
    name = "a-name-that-is-far-too-long-for-roles"
  }
  expect_failures = [var.name]
}

run "capital_name" {
  command = plan
  variables {
    name = "Belfry"
  }
  expect_failures = [var.name]
}

run "no_code" {
  command = plan
  variables {
    code = {}
  }
  expect_failures = [var.code]
}

run "two_codes" {
  command = plan
  variables {
    code = { directory = "x", s3_bucket = "y" }
  }
  expect_failures = [var.code]
}

run "plain_http_code" {
  command = plan
  variables {
    code = { url = "http://x", sha256 = {} }
  }
  expect_failures = [var.code]
}

run "architecture" {
  command = plan
  variables {
    code = { s3_bucket = "y", architecture = "x86" }
  }
  expect_failures = [var.code]
}

run "database_kind" {
  command = plan
  variables {
    database = { kind = "mysql" }
  }
  expect_failures = [var.database]
}

run "secret_of_a_managed_one" {
  command = plan
  variables {
    database = { secret_arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db" }
  }
  expect_failures = [var.database]
}

run "no_backups" {
  command = plan
  variables {
    database = { backup_days = 0 }
  }
  expect_failures = [var.database]
}

run "capacity" {
  command = plan
  variables {
    database = { min_capacity = 8, max_capacity = 4 }
  }
  expect_failures = [var.database]
}

run "old_engine" {
  command = plan
  variables {
    database = { engine_version = "13" }
  }
  expect_failures = [var.database]
}

run "storage" {
  command = plan
  variables {
    database = { storage_gb = 200 }
  }
  expect_failures = [var.database]
}

run "egress" {
  command = plan
  variables {
    network = { egress = "vpn" }
  }
  expect_failures = [var.network]
}

run "cidr" {
  command = plan
  variables {
    network = { cidr = "10.0.0.0/28" }
  }
  expect_failures = [var.network]
}

run "half_a_vpc" {
  command = plan
  variables {
    network = { vpc_id = "vpc-1" }
  }
  expect_failures = [var.network]
}

run "front" {
  command = plan
  variables {
    api = { front = "alb" }
  }
  expect_failures = [var.api]
}

run "stream" {
  command = plan
  variables {
    api = { stream = true }
  }
  expect_failures = [var.api]
}

run "api_timeout" {
  command = plan
  variables {
    api = { timeout_seconds = 60 }
  }
  expect_failures = [var.api]
}

run "mode" {
  command = plan
  variables {
    tick = { mode = "daemon" }
  }
  expect_failures = [var.tick]
}

run "rare_ticks" {
  command = plan
  variables {
    tick = { every_minutes = 5 }
  }
  expect_failures = [var.tick]
}

run "sleeping_loop" {
  command = plan
  variables {
    tick = { mode = "loop", sleep_seconds = 60 }
  }
  expect_failures = [var.tick]
}

run "short_tick" {
  command = plan
  variables {
    tick = { timeout_seconds = 60 }
  }
  expect_failures = [var.tick]
}

run "concurrency_of_one" {
  command = plan
  variables {
    workers = { bulk = { max_concurrency = 1 } }
  }
  expect_failures = [var.workers]
}

run "long_timeout" {
  command = plan
  variables {
    workers = { bulk = { timeout_seconds = 1000 } }
  }
  expect_failures = [var.workers]
}

run "large_batch" {
  command = plan
  variables {
    workers = { bulk = { batch_size = 20 } }
  }
  expect_failures = [var.workers]
}

run "few_receives" {
  command = plan
  variables {
    workers = { bulk = { max_receives = 2 } }
  }
  expect_failures = [var.workers]
}

run "long_priorities" {
  command = plan
  variables {
    worker_long = { image = "x", priorities = ["high"] }
  }
  expect_failures = [var.worker_long]
}

run "foreign_setting" {
  command = plan
  variables {
    settings = { PATH = "/" }
  }
  expect_failures = [var.settings]
}

run "settings_of_the_module" {
  command = plan
  variables {
    settings = { BELFRY_DATABASE_URL = "postgres://x" }
  }
  expect_failures = [var.settings]
}

run "secret_in_the_open" {
  command = plan
  variables {
    settings = { BELFRY_TOKENS = "a-token-of-twenty-characters" }
  }
  expect_failures = [var.settings]
}

run "log_level" {
  command = plan
  variables {
    log_level = "error"
  }
  expect_failures = [var.log_level]
}

run "log_retention" {
  command = plan
  variables {
    log_retention_days = 10
  }
  expect_failures = [var.log_retention_days]
}

run "topic_and_emails" {
  command = plan
  variables {
    alarms = { topic_arn = "arn:aws:sns:eu-west-1:123456789012:x", emails = ["a@b.c"] }
  }
  expect_failures = [var.alarms]
}
