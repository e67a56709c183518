// Package localstack holds the shape of AWS on one machine, and its test: compose.yaml starts it, init/queues.py makes the
// queues, Dockerfile builds the functions, driver/ invokes them. docs/localstack.md tells how to use it.
package localstack
