// Package genclient tests that a client generated from the served OpenAPI document works: it generates those of
// docs/examples/clients with their own pinned generators, builds them, and runs them against the real API.
package genclient
