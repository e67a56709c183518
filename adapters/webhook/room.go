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

// How a party leaves room for others: it takes another slot only while it has less than its part times what is free afterwards. So
// those that get no answer leave something to those that come later, who leave less. A party without any may take the last one.
// What a tenant may take at a host is shared by its paths in the same way, and what a path may take by its URLs: six URLs that
// never answer are needed to fill a host of 50. Hosts with few slots leave room to other URLs only, or none.
const (
	tenantPart     = 4 // of all slots
	hostTenantPart = 9 // of a host's
	pathPart       = 9 // of what its tenant may take; what differs in the query only is one path
	endpointPart   = 3 // of what its path may take

	sharedFrom = 5  // slots of a host, from which on URLs leave room
	nestedFrom = 10 // and from which on paths and tenants do
)

// mayTake is how many of the free slots a party may take that has some already.
func mayTake(has, free, part int) int {
	if free < 1 {
		return 0
	}
	n := (part*(free-1) - has + part) / (part + 1) // rounded up
	if has == 0 {
		return max(n, 1)
	}
	return max(n, 0)
}

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

// room returns the bound that another delivery would exceed. admission.mu is held.
func (b bounds) room(g *admission, p *pass) lack {
	tenant := g.tenants[p.route.tenant]
	switch {
	case g.inFlight >= b.slots:
		return noSlots
	case b.perTenant > 0 && tenant >= b.perTenant, mayTake(tenant, b.slots-g.inFlight, tenantPart) == 0:
		return tenantFull
	case p.host.inFlight >= b.perHost:
		return hostFull
	}
	free := b.perHost - p.host.inFlight
	if b.perHost >= nestedFrom {
		free = mayTake(p.host.parties[p.route.tenantKey()], free, hostTenantPart)
		free = mayTake(p.host.parties[p.route.pathKey()], free, pathPart)
	}
	switch {
	case free == 0:
		return hostPartFull
	case b.perHost >= sharedFrom && mayTake(p.endpoint.inFlight, free, endpointPart) == 0:
		return endpointFull
	}
	return roomLeft
}

// counts returns what is under way.
func (g *admission) counts() Counts {
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
