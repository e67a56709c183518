GOLANGCI_LINT_VERSION := v2.15.0

# Two packages at a time: each starts a server of its own.
TEST_FLAGS := -race -p 2 -timeout 30m

# Failures are told at once and again at the end, with what was skipped and why.
GOTESTSUM := go run gotest.tools/gotestsum@v1.13.0 --format pkgname-and-test-fails --format-hide-empty-pkg --format-icons text \
	--post-run-command 'bash -c "echo $$(( TESTS_TOTAL - TESTS_FAILED - TESTS_SKIPPED )) passed, $$TESTS_FAILED failed, $$TESTS_SKIPPED skipped"'

# Lines of a benchmark run that say nothing about a benchmark.
QUIET := -E '^(ok|PASS|goos|goarch|cpu|pkg)|no test files'

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

.PHONY: help
help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## everything in one process, on a SQLite file
	go run ./cmd/local

.PHONY: test
test: ## all tests, of what this machine has servers for
	go test $(TEST_FLAGS) ./...

.PHONY: check
check: fmt vet lint bench-once tally ## what CI runs

.PHONY: fmt
fmt: ## fail if a file is not formatted
	@unformatted=$$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 -r gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w):"; echo "$$unformatted"; exit 1; fi

.PHONY: vet
vet: ## go vet, both modules
	go vet ./...
	cd bench && go vet ./... && go build -o /dev/null ./...

.PHONY: lint
lint: ## golangci-lint, of the pinned version
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION) run ./...
	cd bench && go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION) run --config ../.golangci.yaml ./...

.PHONY: bench-once
bench-once: ## run each benchmark once, to see that it works
	go test -p 1 -run '^$$' -bench . -benchtime 1x ./... | { grep -v $(QUIET) || true; }
	cd bench && go test -p 1 -run '^$$' -bench . -benchtime 1x ./... | { grep -v $(QUIET) || true; }

.PHONY: tally
tally: ## all tests of both modules, told in short, closed by a count
	@$(GOTESTSUM) --raw-command -- \
	bash -c 'bad=0; go test $(TEST_FLAGS) -json ./... || bad=1; cd bench && go test $(TEST_FLAGS) -json ./... || bad=1; exit $$bad'

.PHONY: package
package: ## the functions as zips for AWS Lambda and the program of containers, in dist/, for arm64 and amd64; its image
	go run ./internal/lambdazip
	go run ./internal/serverimage

REGISTRY ?=
VERSION ?=
IMAGES := api=./functions/api/cloudrun tick=./functions/tick/cloudrun worker=./functions/worker/cloudrun \
	migrate=./functions/migrate/cloudrun worker_long=./functions/worker/workerpool

.PHONY: images
images: ## the programs for Cloud Run, built and pushed (REGISTRY=europe-west1-docker.pkg.dev/PROJECT/belfry VERSION=v1)
	@[[ -n "$(REGISTRY)" && -n "$(VERSION)" ]] || { echo "make images needs REGISTRY and VERSION"; exit 2; }
	@for image in $(IMAGES); do \
		docker build --quiet --platform linux/amd64 --tag $(REGISTRY)/$${image%%=*}:$(VERSION) --build-arg PROGRAM=$${image#*=} . >/dev/null; \
		docker push --quiet $(REGISTRY)/$${image%%=*}:$(VERSION) >/dev/null; \
	done
	@echo 'images = {'; for image in $(IMAGES); do printf '  %-11s = "%s"\n' $${image%%=*} $(REGISTRY)/$${image%%=*}:$(VERSION); done; echo '}'

.PHONY: accept
accept: ## 20,000 jobs over HTTP, each held against what its file implies (ARGS="-queue rabbit")
	go run ./internal/accept $(ARGS)

.PHONY: fuzz-tools
fuzz-tools: ## the pinned API fuzzer, in internal/apifuzz/.venv
	cd internal/apifuzz && python3 -m venv .venv && .venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt

.PHONY: policy-tools
policy-tools: ## the pinned policy scanner for Terraform, in infra/terraform/.venv
	cd infra/terraform && python3 -m venv .venv && .venv/bin/pip install --quiet --disable-pip-version-check checkov==3.3.30

.PHONY: example-tools
example-tools: ## what the examples in other languages are run with, in their own folders
	for dir in clients/typescript webhooks/node; do (cd docs/examples/$$dir && npm ci --no-audit --no-fund --loglevel=error >/dev/null); done
	cd docs/examples/webhooks/python && python3 -m venv .venv && .venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt

.PHONY: fuzz-api
fuzz-api: ## thousands of requests made from the OpenAPI document, on both stores: 10 minutes (ARGS="-for 1m -seed 7")
	go test -count 1 -timeout 60m -v ./internal/apifuzz -args -for 5m -seed 0 $(ARGS)

.PHONY: crash
crash: ## kill, freeze, restart and damage everything under load, then check: a quarter of an hour, or twice that on a busy machine (ARGS="-layout a -seed 7")
	go run ./internal/crashrun $(ARGS)

.PHONY: crash-queues
crash-queues: ## the same over RabbitMQ, which is killed too, over SQS on moto and over the Pub/Sub emulator: 10 minutes at most
	go run ./internal/crashrun -layout c,d,e -compare none $(ARGS)

.PHONY: ledger
ledger: ## schedules through kills, clock changes and two years, previews, 100,000 due at once: 25 minutes
	BELFRY_TEST_LARGE=1 go test -count 1 -timeout 120m -v -run 'Ledger|Preview|Many' ./internal/scheduletest

.PHONY: bench
bench: ## Belfry and River side by side on one PostgreSQL; writes bench/RESULTS.md
	cd bench && go run . -out RESULTS.md $(ARGS)
