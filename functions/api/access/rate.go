package access

import (
	lru "container/list"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/belfry-dev/belfry/functions/api/problem"
)

// ratesKnown bounds how many callers are counted at once. One that was not heard of for longest is forgotten, and
// begins with a full burst.
const ratesKnown = 10_000

// rates bounds how many requests each caller makes: a token, or an address where there is none.
type rates struct {
	limit rate.Limit // zero means none
	burst int

	mu     sync.Mutex
	byName map[string]*lru.Element // of *callerRate
	order  *lru.List               // last heard of first
}

type callerRate struct {
	name    string
	limiter *rate.Limiter
}

// newRates bounds each caller to perSecond requests a second, and so many at once; 0 means no bound.
func newRates(perSecond, atOnce int) *rates {
	return &rates{limit: rate.Limit(perSecond), burst: atOnce, byName: map[string]*lru.Element{}, order: lru.New()}
}

// take counts a request of a caller. The problem, if any, is 429 and says when to come again.
func (s *rates) take(name string, now time.Time) *problem.Problem {
	if s.limit <= 0 {
		return nil
	}
	turn := s.of(name).ReserveN(now, 1)
	wait := turn.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	turn.CancelAt(now)
	return problem.New(http.StatusTooManyRequests, "too many requests: at most "+strconv.Itoa(s.burst)+" a second are answered; jobs can be sent many at a time").
		With("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
}

func (s *rates) of(name string) *rate.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byName[name]; e != nil {
		s.order.MoveToFront(e)
		return e.Value.(*callerRate).limiter
	}
	if s.order.Len() >= ratesKnown {
		last := s.order.Back()
		delete(s.byName, s.order.Remove(last).(*callerRate).name)
	}
	c := &callerRate{name, rate.NewLimiter(s.limit, s.burst)}
	s.byName[name] = s.order.PushFront(c)
	return c.limiter
}

// addressOf names the other end of the connection: its address, or the /64 network that one host of IPv6 has at its
// will. What headers say of an address is not believed.
func addressOf(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "address of none"
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		if network, err := ip.Prefix(64); err == nil {
			return "address " + network.String()
		}
	}
	return "address " + ip.String()
}
