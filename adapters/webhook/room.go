package webhook

// Counts holds the current deliveries of a process and their maximum.
type Counts struct {
	Slots, InFlight, Waiting int
	Tenants                  int // tenants with deliveries in flight
	MaxOfTenant              int // deliveries in flight of the tenant with the most
	MaxOfHost                int // deliveries in flight to the host with the most
	HostsPaused              int // paused hosts
	EndpointsPaused          int // paused endpoints
}

// bounds are the maximum numbers of deliveries in flight.
type bounds struct {
	slots     int // of the process
	perTenant int // zero means that only the rule of room for others applies
	perHost   int
}

// How parties leave room for others. A party takes another slot only while it has less than its part times the slots that
// stay free. So parties without answers leave slots for later ones, which leave fewer. A party without any slot may take the
// last one. The same rule divides a tenant's slots at a host among its paths, and a path's slots among its URLs. It takes
// six URLs that never answer to fill a host of 50.
const (
	tenantPart     = 4 // of all slots
	hostTenantPart = 9 // of a host's slots
	pathPart       = 9 // of the slots its tenant may take; URLs that differ only in the query have one path
	endpointPart   = 3 // of the slots its path may take

	sharedFrom = 5  // minimum slots of a host for URLs to leave room
	nestedFrom = 10 // minimum slots of a host for paths and tenants to leave room
)

// mayTake returns how many of the free slots a party may take if it already has some.
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

// waiting returns how many jobs may wait for a slot. They hold slots of the worker, so they must be few.
func (b bounds) waiting() int { return max(b.slots/20, 1) }

// lack names the bound that leaves no slot for a job.
type lack string

const (
	roomLeft     lack = ""
	noSlots      lack = "all slots for deliveries are in use"
	tenantFull   lack = "the tenant has as many deliveries in flight as it may have"
	hostFull     lack = "the host has as many deliveries in flight as it may have"
	hostPartFull lack = "the tenant or the path has as many deliveries to the host in flight as it may have"
	endpointFull lack = "the URL has as many deliveries in flight as it may have"
)

// room returns the bound that another delivery would exceed. The caller holds admission.mu.
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

// counts returns the current deliveries.
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
