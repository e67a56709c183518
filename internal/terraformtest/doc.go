// Package terraformtest runs Terraform in tests: the real program, with providers that are on this machine. Nothing is
// downloaded.
package terraformtest
