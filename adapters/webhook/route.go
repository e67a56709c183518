package webhook

import (
	"crypto/sha256"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// route identifies a delivery's tenant, host and endpoint: whose slots it uses, and whose state its result changes.
type route struct {
	job       int64
	snoozes   int
	host      string // with its port, as in texts
	scheme    string
	tenant    string // uses its slots
	typ       string
	jobTenant string
	endpoint  string // tenant, type and URL, so that a failing endpoint does not block others
	path      string // the same without the URL's query
}

// ownTenant owns the slots for Belfry's own deliveries, so that no caller's token can use them up.
const ownTenant = "\x00belfry"

// routeOf returns the route of one delivery. Connections by http and https to the same port have separate states.
func routeOf(t *target, job *core.Job) route {
	r := route{job: job.ID, snoozes: job.Snoozes, typ: job.Type, jobTenant: job.Tenant, host: t.host(), scheme: t.url.Scheme, tenant: job.Tenant}
	if core.Reserved(job.Type) {
		r.tenant = ownTenant
	}
	r.endpoint = strings.Join([]string{r.tenant, job.Type, t.url.String()}, "\x00")
	path := *t.url
	path.RawQuery, path.ForceQuery = "", false
	r.path = strings.Join([]string{r.tenant, job.Type, path.String()}, "\x00")
	return r
}

// placeKey identifies a host or an endpoint in a few bytes, even if its URL is long.
type placeKey [sha256.Size / 2]byte

func keyOf(text string) (key placeKey) {
	sum := sha256.Sum256([]byte(text))
	copy(key[:], sum[:])
	return key
}

func (r route) hostKey() placeKey     { return keyOf(r.scheme + "\x00" + r.host) }
func (r route) endpointKey() placeKey { return keyOf(r.endpoint) }
func (r route) pathKey() placeKey     { return keyOf("path\x00" + r.path) }
func (r route) tenantKey() placeKey   { return keyOf("tenant\x00" + r.tenant) }
