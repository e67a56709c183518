package work

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/share"
)

const (
	fewLanes   = 60 // so many are asked themselves in every round, however few slots there are
	surveyPart = 20 // beside busy lanes, surveys take one part in so many of the time
)

// surveyed is what the store answered last.
type surveyed struct {
	lanes []core.Lane
	at    time.Time // when it was asked
	took  time.Duration
}

// surveys reports whether there are more lanes than one claim could ask, so that an idle worker would claim again and
// again to ask each of them. It then asks the store, once a round, which of them have waiting rows.
func (c *claimer) surveys() bool {
	lanes := c.shares.Lanes()
	return lanes > fewLanes && lanes > min(c.w.opts.Slots, share.MaxQuotas)
}

// survey makes known which lanes have waiting rows, where a round has begun since that was known last, or, while lanes
// are busy, the others have gone unasked for long. False: the store did not answer.
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
