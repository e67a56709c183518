package sqlite

import "github.com/belfry-dev/belfry/core"

const (
	everyBucket = -1   // a set of buckets, as bits
	tenantsMax  = 2000 // tenants visited for one quota: a claim must not keep the writer for long
	tenantsStep = 100  // tenants fetched at once
)

// take selects due rows for one quota. It changes nothing.
func (t *tx) take(q core.Quota, buckets int64) ([]row, core.Taken, error) {
	if q.Limit <= 0 {
		return nil, core.Taken{LastTenant: q.TenantAfter}, nil
	}
	var found []row
	var taken core.Taken
	var err error
	if q.PerTenant > 0 && !t.careful {
		found, taken, err = t.takeByTenant(q, buckets)
	} else {
		mark := int64(-1 << 63)
		if q.After != (core.Mark{}) {
			mark = micros(q.After.RunAt)
		}
		found, err = t.each("take_lane", "start", int64(q.Priority), q.Type, mark, q.After.ID, t.now, q.Limit, buckets, q.Targeted)
	}
	if taken.N = len(found); q.PerTenant > 0 && t.careful { // who is whose cannot be told before each row was read
		taken.Wrapped, taken.LastTenant = len(found) < q.Limit, q.TenantAfter
	}
	for _, r := range found {
		if r.text(colTenant) != "" {
			taken.Tenants = true
		} else if m := (core.Mark{RunAt: r.time(colRunAt), ID: r.int(colID)}); later(m, taken.Last) {
			taken.Last = m
		}
	}
	return found, taken, err
}

// takeByTenant goes from tenant to tenant, beginning after the last one visited; rows without a tenant count
// as one. The last visited is named so that the next call goes on from there.
func (t *tx) takeByTenant(q core.Quota, buckets int64) (found []row, taken core.Taken, err error) {
	taken.LastTenant = q.TenantAfter
	visit := func(from string, inclusive bool, until *string) (full bool, err error) {
		return t.eachTenant(q, from, inclusive, until, func(tenant string, due bool) (bool, error) {
			if due {
				rows, err := t.rows("take_tenant", int64(q.Priority), q.Type, tenant, t.now, min(q.PerTenant, q.Limit-len(found)), buckets, q.Targeted)
				if err != nil {
					return false, err
				}
				found = append(found, rows...)
			}
			taken.LastTenant = tenant
			return len(found) >= q.Limit, nil
		})
	}
	full, err := visit(q.TenantAfter, false, nil)
	if err == nil && !full {
		full, err = visit("", true, &q.TenantAfter)
	}
	taken.Wrapped = !full
	return found, taken, err
}

// eachTenant calls visit for the tenants with waiting rows, in order, until it says stop or the bound on a
// claim's work is reached; both answer stopped.
func (t *tx) eachTenant(q core.Quota, from string, inclusive bool, until *string, visit func(tenant string, due bool) (stop bool, err error)) (stopped bool, err error) {
	for visited := 0; ; {
		tenants, err := t.rows("next_tenants", int64(q.Priority), q.Type, from, inclusive, tenantsStep)
		if err != nil || len(tenants) == 0 {
			return false, err
		}
		for _, r := range tenants {
			from, inclusive = r.text(0), false
			if until != nil && from > *until {
				return false, nil
			}
			stop, err := visit(from, r.int(1) <= t.now)
			if visited++; err != nil || stop || visited >= tenantsMax {
				return true, err
			}
		}
	}
}

func later(a, b core.Mark) bool {
	return b == (core.Mark{}) || a.RunAt.After(b.RunAt) || a.RunAt.Equal(b.RunAt) && a.ID > b.ID
}
