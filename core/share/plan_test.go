package share

import "testing"

// TestQueuesShareEqually: a queue's unused share goes to the others, no queue exceeds its credit, and every queue gets a
// share in time.
func TestQueuesShareEqually(t *testing.T) {
	for _, row := range []struct {
		total int
		first int
		have  []int // credits
		want  []int
	}{
		{100, 0, []int{1000, 1000}, []int{50, 50}}, {100, 0, []int{0, 1000}, []int{0, 100}}, {100, 0, []int{10, 1000, 1000}, []int{10, 45, 45}},
		{100, 0, []int{10, 20}, []int{10, 20}}, {1, 0, []int{5, 5}, []int{1, 0}}, {1, 1, []int{5, 5}, []int{0, 1}}, {1, 2, []int{5, 5}, []int{1, 0}}, {0, 0, []int{5}, []int{0}}, {7, 0, []int{5, 5, 5}, []int{3, 2, 2}},
	} {
		var queues []*dueQueue
		for _, credit := range row.have {
			queues = append(queues, &dueQueue{credit: credit})
		}
		shareEqually(row.total, queues, row.first)
		for i, q := range queues {
			if q.share != row.want[i] {
				t.Errorf("of %d with credits %v and %d first, queue %d got %d, want %v", row.total, row.have, row.first, i, q.share, row.want)
			}
		}
	}
}
