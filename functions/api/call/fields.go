package call

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/decode"
)

// ReadFields reads an optional body of the given fields.
func (a *Base) ReadFields(w http.ResponseWriter, r *http.Request, fields []string, set func(d *decode.Decoder, name string, value []byte)) (*decode.Decoder, error) {
	d := &decode.Decoder{}
	body, err := a.readOptional(w, r)
	if err != nil || body == nil {
		return d, err
	}
	raw, err := decode.Parse(body)
	if err != nil {
		return nil, err
	}
	d.Object(raw, fields, func(name string, value []byte) { set(d, name, value) })
	return d, nil
}

// Priority reads a priority, or finds fault with it.
func Priority(d *decode.Decoder, field string, raw []byte) core.Priority {
	word, ok := d.Text(field, raw)
	p, err := core.ParsePriority(word)
	if ok && err != nil {
		d.Fault(field, "must be critical, default or bulk")
	}
	return p
}

// BoundTimeout finds fault with a timeout that is longer than the hosts of the workers give. Where a target does the work
// they only wait for its answer, and it may report its end as late as the timeout says.
func (a *Base) BoundTimeout(d *decode.Decoder, timeout time.Duration, target json.RawMessage, typ string) {
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
