# Everything: Aurora Serverless v2, a NAT gateway for webhooks to hosts without IPv6, a long worker on ECS, thresholds and
# addresses of alarms, a budget.
#
#   make package                                   # in the root of the repository
#   terraform init && terraform apply -var 'emails=["you@example.com"]' -var worker_image=…
terraform {
  required_version = ">= 1.11"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.95, < 7.0"
    }
  }
}

provider "aws" {
  region = var.region

  default_tags {
    tags = { Environment = "production" }
  }
}

variable "region" {
  description = "Region."
  type        = string
  default     = "eu-west-1"
}

variable "name" {
  description = "Name of the deployment."
  type        = string
  default     = "jobs"
}

variable "code" {
  description = "Folder with the functions' zips, from make package."
  type        = string
  default     = "../../../../../dist"
}

variable "worker_image" {
  description = "Image of functions/worker/ecs for arm64: docker build --build-arg PROGRAM=./functions/worker/ecs ."
  type        = string
  default     = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/belfry-worker:1"
}

variable "worker_repository_arn" {
  description = "ECR repository of that image; null for a public registry."
  type        = string
  default     = "arn:aws:ecr:eu-west-1:111122223333:repository/belfry-worker"
}

variable "emails" {
  description = "Whom alarms tell."
  type        = list(string)
  default     = ["operations@example.com"]
}

variable "monthly_usd" {
  description = "Budget; 0 makes none."
  type        = number
  default     = 400
}

variable "run_migrations" {
  description = "false leaves it to you to invoke the migrate function."
  type        = bool
  default     = true
}

variable "deletion_protection" {
  description = "Apply with false before a terraform destroy."
  type        = bool
  default     = true
}

module "belfry" {
  source = "../.."

  name = var.name
  tags = { Team = "platform" }
  code = { directory = var.code }

  database = {
    kind         = "aurora"
    min_capacity = 0.5
    max_capacity = 8
    multi_az     = true
    backup_days  = 14
  }

  network = { cidr = "10.80.0.0/16", zones = 3, egress = "nat" }

  api  = { concurrency = 40, memory_mb = 1024, pool = 1 }
  tick = { memory_mb = 512 }

  workers = {
    critical = { max_concurrency = 50, timeout_seconds = 120 }
    default  = { max_concurrency = 200, timeout_seconds = 300, memory_mb = 512 }
    bulk     = { max_concurrency = 20 }
  }

  worker_long = {
    image          = var.worker_image
    repository_arn = var.worker_repository_arn
    tasks          = 2
    priorities     = ["bulk"]
  }

  settings = { BELFRY_HISTORY_RETENTION = "336h" }

  alarms = { emails = var.emails, oldest_due_seconds = 120, message_age_seconds = 600 }
  budget = var.monthly_usd == 0 ? null : { monthly_usd = var.monthly_usd }

  log_retention_days  = 30
  deletion_protection = var.deletion_protection
  run_migrations      = var.run_migrations
}

output "api_url" {
  description = "URL of the API."
  value       = module.belfry.api_url
}

output "admin_token_command" {
  description = "Command that prints the token of an admin."
  value       = module.belfry.admin_token_command
}

output "belfry" {
  description = "All that the module tells."
  value       = module.belfry
}
