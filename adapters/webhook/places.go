package webhook

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// maxPlaces is the maximum number of remembered hosts, and of endpoints, besides those in use.
const maxPlaces = 4096

// places holds the hosts or endpoints that are in use or failed recently.
type places map[placeKey]*place

// use counts a user of the place with that key, and creates it if necessary.
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

// forgotten reports whether the place has no state to keep.
func (p *place) forgotten() bool { return p.users == 0 && p.breaker.failures == 0 }

// count adds n to the deliveries in flight of the route's tenant and path at this host.
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

// sweep makes space once there are maxPlaces. It drops places that failed long ago. If that is not enough, it drops a
// quarter of the places that are not in use: first those that are not paused, then those whose next probe is soonest. A
// dropped place starts afresh.
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
