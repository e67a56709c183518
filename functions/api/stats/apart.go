package stats

import (
	"context"
	"strings"

	"github.com/belfry-dev/belfry/functions/api/show"
)

// ApartRow is a row that is set apart.
type ApartRow struct {
	Row     string `json:"row" doc:"Which one." example:"job 17 (mail.send)"`
	Act     string `json:"act" doc:"What was being done to it." example:"claim"`
	Error   string `json:"error"`
	Tries   int    `json:"tries" doc:"How often it was met in a row."`
	Since   string `json:"since" format:"date-time"`
	RetryAt string `json:"retry_at" format:"date-time" doc:"When it is met again: within 5 minutes, mended or not."`
}

// apartShown is how many rows that are set apart are shown.
const apartShown = 20

// apart is the rows that are set apart.
func (a *Calls) apart(ctx context.Context) ([]ApartRow, error) {
	faults, err := a.Stats.Apart(ctx, apartShown)
	if err != nil {
		return nil, err
	}
	rows := make([]ApartRow, len(faults))
	for i, f := range faults {
		rows[i] = ApartRow{
			Row: strings.ToValidUTF8(f.String(), "\uFFFD"), Act: f.Act, Error: f.Error, Tries: f.Tries,
			Since: f.Since.UTC().Format(show.TimeFormat), RetryAt: f.RetryAt.UTC().Format(show.TimeFormat),
		}
	}
	return rows, nil
}
