package work

import (
	"context"
	"slices"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/decide"
)

// reap does what the tick does for leases that have passed.
func (m *memStore) reap() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for _, j := range m.jobs {
		if j.Status == core.Running && now.After(j.LeaseUntil) {
			end := decide.Lost(j, now, 0.5)
			m.finish(&end)
		}
	}
}

func (m *memStore) SetApart(_ context.Context, faults []core.RowFault) error {
	if err := m.enter("SetApart"); err != nil {
		return err
	}
	m.apart = append(m.apart, faults...)
	return m.leave("SetApart")
}

// cancel asks for a running job's end.
func (m *memStore) cancel(id int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jobs[id].CancelWanted = true
}

func (m *memStore) lock(id int64, locked bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.locked[id] = locked
}

func (m *memStore) setFaults(before, after func(string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before, m.after = before, after
}

func (m *memStore) called(method string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[method]
}

func (m *memStore) get(id int64) core.Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.jobs[id]
}

// announced are the types of workers that are there, in order of name, and "delivers" where one delivers.
func (m *memStore) announced() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var types []string
	for _, p := range m.present {
		types = append(types, p.Types...)
		if p.Delivers {
			types = append(types, "delivers")
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// tally counts jobs by status.
func (m *memStore) tally() map[core.Status]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := map[core.Status]int{}
	for _, j := range m.jobs {
		n[j.Status]++
	}
	return n
}
