package webhook

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// maxPlaces bounds how many hosts, and how many endpoints, are remembered beside those in use.
const maxPlaces = 4096

// places are the hosts or endpoints that are in use or failed lately.
type places map[placeKey]*place

// use counts a user of the place of that key, which may be new.
func (ps places) use(key placeKey, now time.Time, opts BreakerOptions) *place {
	p := ps[key]
	if p == nil {
		ps.sweep(now, opts)
		p = &place{}
		ps[key] = p
	}
	p.users++
	return p
}

// forgotten reports whether nothing is worth remembering.
func (p *place) forgotten() bool { return p.users == 0 && p.breaker.failures == 0 }

// count adds to the deliveries in flight of the route's tenant and path at this host.
func (p *place) count(r route, n int) {
	if p.parties == nil {
		p.parties = map[placeKey]int{}
	}
	for _, key := range []placeKey{r.tenantKey(), r.pathKey()} {
		if p.parties[key] += n; p.parties[key] == 0 {
			delete(p.parties, key)
		}
	}
}

// sweep drops what failed long ago once there are maxPlaces. If that does not make room it drops a quarter of what is
// not in use: first what is not left alone, then what may be probed soonest. A place that is forgotten starts afresh.
func (ps places) sweep(now time.Time, opts BreakerOptions) {
	if len(ps) < maxPlaces {
		return
	}
	maps.DeleteFunc(ps, func(_ placeKey, p *place) bool { return p.users == 0 && p.breaker.forgettable(now, opts) })
	if len(ps) < maxPlaces*3/4 {
		return
	}
	var unused []placeKey
	for key, p := range ps {
		if p.users == 0 {
			unused = append(unused, key)
		}
	}
	slices.SortFunc(unused, func(a, b placeKey) int {
		x, y := &ps[a].breaker, &ps[b].breaker
		if open := func(b *breaker) int { return min(int(b.pause), 1) }; open(x) != open(y) {
			return cmp.Compare(open(x), open(y))
		}
		return x.until.Compare(y.until)
	})
	for _, key := range unused[:(len(unused)+3)/4] {
		delete(ps, key)
	}
}
