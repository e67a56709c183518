package work

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/share"
)

const (
	fewLanes   = 60 // up to this many lanes are claimed in every round, even with few slots
	surveyPart = 20 // while lanes are busy, surveys take at most 1/surveyPart of the time
)

// surveyed is the store's last answer.
type surveyed struct {
	lanes []core.Lane
	at    time.Time // when the store was asked
	took  time.Duration
}

// surveys reports whether there are more lanes than one claim can cover, so that an idle worker would need many claims to
// cover all. It then asks the store once a round which of them have waiting rows.
func (c *claimer) surveys() bool {
	lanes := c.shares.Lanes()
	return lanes > fewLanes && lanes > min(c.w.opts.Slots, share.MaxQuotas)
}

// survey asks the store which lanes have waiting rows, if a round has begun since the last survey or if quiet lanes were not
// claimed for long beside busy ones. False: the store did not answer.
func (c *claimer) survey() bool {
	if !c.surveys() {
		return true
	}
	sent := time.Now()
	w, late := c.w, c.shares.Busy() && sent.Sub(c.surveyed.at) >= max(share.ProbeEvery, surveyPart*c.surveyed.took)
	if !c.surveyed.at.Before(c.round) && !late {
		return true
	}
	if last := w.surveyed.Load(); last != nil && sent.Sub(last.at) < share.ProbeEvery && (c.second || !last.at.Before(c.round)) {
		c.surveyed = *last
		c.shares.Survey(last.lanes, last.at)
		return true
	}
	ctx, cancel := context.WithTimeout(w.claims, w.opts.StoreTimeout)
	lanes, err := w.store.Waiting(ctx)
	cancel()
	if err != nil {
		c.store.failed(err)
		return false
	}
	c.store.answered()
	now := &surveyed{lanes: lanes, at: sent, took: time.Since(sent)}
	c.surveyed = *now
	w.surveyed.Store(now)
	c.shares.Survey(lanes, time.Now())
	return true
}
