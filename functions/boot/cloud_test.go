package boot

import (
	"strings"
	"testing"
)

// What a program cannot do it refuses: a setting of another cloud that it ignored would be a surprise in production.
func TestSettingsOfAnotherCloudAreRefused(t *testing.T) {
	rds, cloudSQL := Settings{RDSIAM: true}, Settings{CloudSQLInstance: "my-project:europe-west1:belfry"}
	for _, c := range []struct {
		settings Settings
		on       Cloud
		want     string
	}{
		{rds, AWS, ""}, {rds, Google, "BELFRY_RDS_IAM"}, {rds, NoCloud, "BELFRY_RDS_IAM"},
		{cloudSQL, Google, ""}, {cloudSQL, AWS, "BELFRY_CLOUDSQL_INSTANCE"}, {cloudSQL, NoCloud, "BELFRY_CLOUDSQL_INSTANCE"},
		{Settings{}, NoCloud, ""},
	} {
		err := c.settings.CheckCloud(c.on)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want+":") {
			t.Errorf("on %q: %v, want %q", c.on, err, c.want)
		}
	}
}
