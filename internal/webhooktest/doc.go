// Package webhooktest holds webhooks as their users meet them: jobs go in over HTTP, deliveries come out at receivers
// of the tests' own, on every store, with and without queues, in one process and in several.
package webhooktest
