# What does not fit together is refused with a message that says what to change.

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

run "too_many_connections" {
  command = plan
  variables {
    workers = {
      critical = {}
      default  = { max_instances = 50, pool = 4 }
      bulk     = {}
    }
  }
  expect_failures = [terraform_data.checks]
}

run "a_larger_limit_fits" {
  command = plan
  variables {
    database = { tier = "db-custom-4-15360" }
    workers = {
      critical = {}
      default  = { max_instances = 50, pool = 4 }
      bulk     = {}
    }
  }
}

run "unknown_tier_needs_its_limit" {
  command = plan
  variables {
    database = { tier = "db-custom-6-30720" }
  }
  expect_failures = [terraform_data.checks]
}

run "a_tier_with_its_limit" {
  command = plan
  variables {
    database = { tier = "db-custom-6-30720", max_connections = 300 }
  }
}

run "two_databases" {
  command = plan
  variables {
    existing_database = { url_secret = "projects/my-project/secrets/belfry-url", max_connections = 200 }
  }
  expect_failures = [terraform_data.checks]
}

run "no_database" {
  command = plan
  variables {
    database = null
  }
  # Without either, the limit of connections cannot be known.
  expect_failures = [terraform_data.checks]
}

run "long_jobs_without_their_image" {
  command = plan
  variables {
    worker_long = {}
  }
  expect_failures = [terraform_data.checks]
}

run "alerts_that_reach_nobody" {
  command = plan
  variables {
    alert_emails = []
  }
  expect_failures = [google_monitoring_alert_policy.threshold]
}

run "small_cpu_and_large_memory" {
  command = plan
  variables {
    tick = { cpu = "0.167", memory = "1Gi" }
  }
  expect_failures = [terraform_data.checks]
}
