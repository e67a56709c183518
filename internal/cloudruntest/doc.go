// Package cloudruntest holds the tests of the functions for Cloud Run, as processes and as containers, and the issuer of
// identity tokens that stands in for Google's in them.
package cloudruntest
