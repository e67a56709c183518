# The least: an RDS instance, three functions and one that migrates, in a VPC of their own. About $22 a month while idle,
# $14 of it for the database.
#
#   make package                                   # in the root of the repository
#   terraform init && terraform apply
#   $(terraform output -raw admin_token_command)   # the token
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
}

variable "region" {
  description = "Region."
  type        = string
  default     = "us-east-1"
}

variable "code" {
  description = "Folder with the functions' zips, from make package."
  type        = string
  default     = "../../../../../dist"
}

variable "monthly_usd" {
  description = "Budget; 0 makes none."
  type        = number
  default     = 50
}

variable "run_migrations" {
  description = "false leaves it to you to invoke the migrate function."
  type        = bool
  default     = true
}

module "belfry" {
  source = "../.."

  code = { directory = var.code }

  # A first try may be thrown away. Leave this line out for a database that you would miss.
  deletion_protection = false
  run_migrations      = var.run_migrations
  budget              = var.monthly_usd == 0 ? null : { monthly_usd = var.monthly_usd }
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
