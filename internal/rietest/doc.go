// Package rietest holds the tests of the functions for AWS Lambda, as programs under AWS's Runtime Interface Emulator.
package rietest
