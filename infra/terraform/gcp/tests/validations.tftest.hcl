# Each variable is checked by itself.

mock_provider "google" {
  mock_data "google_project" {
    defaults = { number = "123456789012" }
  }
}

variables {
  project        = "my-project"
  region         = "europe-west1"
  alert_emails   = ["on-call@example.org"]
  run_migrations = false
  images = {
    api     = "europe-west1-docker.pkg.dev/my-project/belfry/api:v1"
    tick    = "europe-west1-docker.pkg.dev/my-project/belfry/tick:v1"
    worker  = "europe-west1-docker.pkg.dev/my-project/belfry/worker:v1"
    migrate = "europe-west1-docker.pkg.dev/my-project/belfry/migrate:v1"
  }
}

run "project_by_name" {
  command = plan
  variables {
    project = "My Project"
  }
  expect_failures = [var.project]
}

run "zone_for_region" {
  command = plan
  variables {
    region = "europe-west1-b"
  }
  expect_failures = [var.region]
}

run "name_too_long" {
  command = plan
  variables {
    name = "belfry-in-production"
  }
  expect_failures = [var.name]
}

run "name_of_the_greatest_length" {
  command = plan
  variables {
    name = "belfry-production-1"
  }
  assert {
    condition     = alltrue([for a in [google_service_account.api, google_service_account.scheduler] : length(a.account_id) <= 30])
    error_message = "a service account id is longer than 30 characters"
  }
}

run "image_without_tag" {
  command = plan
  variables {
    images = { api = "example.org/api", tick = "example.org/tick:v1", worker = "example.org/worker:v1", migrate = "example.org/migrate:v1" }
  }
  expect_failures = [var.images]
}

run "image_latest" {
  command = plan
  variables {
    images = { api = "example.org/api:latest", tick = "example.org/tick:v1", worker = "example.org/worker:v1", migrate = "example.org/migrate:v1" }
  }
  expect_failures = [var.images]
}

run "image_by_digest" {
  command = plan
  variables {
    images = {
      api     = "example.org/belfry/api@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
      tick    = "example.org/tick:v1"
      worker  = "example.org/worker:v1"
      migrate = "example.org/migrate:v1"
    }
  }
}

run "secret_in_the_environment" {
  command = plan
  variables {
    environment = { BELFRY_TOKENS = "01234567890123456789" }
  }
  expect_failures = [var.environment]
}

run "foreign_setting" {
  command = plan
  variables {
    environment = { LOG_LEVEL = "debug" }
  }
  expect_failures = [var.environment]
}

run "edition_by_default" {
  command = plan
  variables {
    database = { edition = "ENTERPRISE_PLUS" }
  }
  expect_failures = [var.database]
}

run "old_postgres" {
  command = plan
  variables {
    database = { version = "POSTGRES_13" }
  }
  expect_failures = [var.database]
}

run "url_in_the_clear" {
  command = plan
  variables {
    database          = null
    existing_database = { url_secret = "postgres://belfry:secret@10.0.0.1/belfry", max_connections = 100 }
  }
  expect_failures = [var.existing_database]
}

run "a_priority_is_missing" {
  command = plan
  variables {
    workers = { critical = {}, default = {} }
  }
  expect_failures = [var.workers]
}

run "push_for_an_hour" {
  command = plan
  variables {
    push_deadline = 3600
  }
  expect_failures = [var.push_deadline]
}

run "a_tick_that_does_not_overlap" {
  command = plan
  variables {
    tick = { seconds = 55 }
  }
  expect_failures = [var.tick]
}

run "a_mode_that_is_none" {
  command = plan
  variables {
    tick = { mode = "adaptive" }
  }
  expect_failures = [var.tick]
}

run "sleep_without_idle" {
  command = plan
  variables {
    tick = { mode = "loop", sleep_seconds = 600 }
  }
  expect_failures = [var.tick]
}
