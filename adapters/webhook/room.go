package webhook

// Counts are how many deliveries of a process are under way, and how many may be.
type Counts struct {
	Slots, InFlight, Waiting int
	Tenants                  int // that have deliveries in flight
	MaxOfTenant              int // deliveries in flight of the tenant that has most
	MaxOfHost                int // deliveries in flight to the host that has most
	HostsPaused              int // hosts that are left alone
	EndpointsPaused          int // endpoints that are left alone
}

// bounds say how many deliveries may be in flight at once.
type bounds struct {
	slots     int // of the process
	perTenant int // zero means that leaving room is the only bound
	perHost   int
}

// How a party leaves room for others: it takes another slot only while what is left free, times its part, is more than it
// has. A tenant alone takes nine in ten of all slots. If there are two, each takes nine in nineteen. So deliveries that get
// no answer never take the last slot of the others. At a host a URL leaves room, what differs in the query only leaves less,
// and a tenant least: so each leaves some to those beside it.
const (
	tenantPart     = 9  // of all slots
	endpointPart   = 9  // of a host's
	pathPart       = 19 // of a host's
	hostTenantPart = 49 // of a host's
)

// leavesRoom reports whether a party that has so many slots may take one more of those that are free.
func leavesRoom(has, free, part int) bool { return free > 0 && has < part*free }

// waiting is how many jobs may wait for a place. They hold slots of the worker meanwhile, so they are few.
func (b bounds) waiting() int { return max(b.slots/20, 1) }

// lack says what a job finds no place in.
type lack string

const (
	roomLeft     lack = ""
	noSlots      lack = "all slots for deliveries are in use"
	tenantFull   lack = "the tenant has as many deliveries in flight as it may have"
	hostFull     lack = "the host has as many deliveries in flight as it may have"
	hostPartFull lack = "the tenant or the path has as many deliveries to the host in flight as it may have"
	endpointFull lack = "the URL has as many deliveries in flight as it may have"
)

// room says which bound another delivery would pass. gates.mu is held.
func (b bounds) room(g *gates, p *pass) lack {
	tenant := g.tenants[p.route.tenant]
	switch {
	case g.inFlight >= b.slots:
		return noSlots
	case b.perTenant > 0 && tenant >= b.perTenant, !leavesRoom(tenant, b.slots-g.inFlight, tenantPart):
		return tenantFull
	case p.host.inFlight >= b.perHost:
		return hostFull
	}
	free := b.perHost - p.host.inFlight
	switch {
	case !leavesRoom(p.endpoint.inFlight, free, endpointPart):
		return endpointFull
	case !leavesRoom(p.host.parties[p.route.pathKey()], free, pathPart), !leavesRoom(p.host.parties[p.route.tenantKey()], free, hostTenantPart):
		return hostPartFull
	}
	return roomLeft
}

// counts returns what is under way.
func (g *gates) counts() Counts {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := Counts{Slots: g.bounds.slots, InFlight: g.inFlight, Waiting: len(g.waiting), Tenants: len(g.tenants)}
	for _, n := range g.tenants {
		c.MaxOfTenant = max(c.MaxOfTenant, n)
	}
	for _, h := range g.hosts {
		c.MaxOfHost = max(c.MaxOfHost, h.inFlight)
		if h.breaker.pause > 0 {
			c.HostsPaused++
		}
	}
	for _, e := range g.endpoints {
		if e.breaker.pause > 0 {
			c.EndpointsPaused++
		}
	}
	return c
}
