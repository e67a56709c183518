package boot

import (
	"crypto/rand"
	"strings"
)

// InstanceName returns a unique name for this process: where it runs, then 50 random bits. Host, process id and start time
// are not unique: containers share the first two, and clones of a machine share all three.
func InstanceName(where string) string {
	return where + "-" + strings.ToLower(rand.Text()[:10])
}
