// Package migrate is the function that readies a deployment: it runs before the others are first deployed, and before each
// upgrade.
package migrate
