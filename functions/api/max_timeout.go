package api

import (
	"encoding/json"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/decode"
)

// boundTimeout finds fault with a timeout that is longer than the hosts of the workers give. Where a target does the work
// they only wait for its answer, and it may report its end as late as the timeout says.
func (a *API) boundTimeout(d *decode.Decoder, timeout time.Duration, target json.RawMessage, typ string) {
	most := a.Limits.Timeout
	if most <= 0 || timeout <= most || timeout > core.MaxTimeout || target != nil {
		return // or it is blamed already
	}
	if a.Types != nil && typ != "" {
		if t, known := a.Types.Lookup(typ); known && t.Target != nil {
			return
		}
	}
	d.Fault("timeout", "is longer than the workers here may take: at most "+most.String())
}
