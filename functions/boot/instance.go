package boot

import (
	"crypto/rand"
	"strings"
)

// InstanceName names one process among all that ever ran: where it runs, then 50 random bits. Host, process id and start
// time would not do: containers share the first two, and a machine that is cloned all three.
func InstanceName(where string) string {
	return where + "-" + strings.ToLower(rand.Text()[:10])
}
