package api_test

import (
	"testing"
)

// A schedule whose counts were damaged to be the greatest numbers there are is replaced, paused and triggered like any other.
func TestScheduleWithCountsAtTheirEnd(t *testing.T) {
	for _, column := range []string{"moves", "version"} {
		t.Run(column, func(t *testing.T) {
			b := newBench(t)
			const path = "/v1/schedules/s"
			b.do("PUT", path, `{"cron":"0 * * * *","type":"echo"}`).want(t, 201)
			b.write("UPDATE schedules SET " + column + " = 9223372036854775807")
			if etag := b.do("PUT", path, `{"cron":"30 * * * *","type":"echo"}`).want(t, 200).header.Get("ETag"); column == "version" && etag != `"1"` {
				t.Errorf("its version is %s", etag)
			}
			b.do("POST", path+"/trigger", "").want(t, 201)
			b.do("POST", path+"/pause", "").want(t, 200)
		})
	}
}
