package boot

import (
	"errors"
	"fmt"
	"regexp"
)

// Cloud is the platform whose clients a program contains.
type Cloud string

// The clouds. A program on neither has no client of either.
const (
	NoCloud Cloud = ""
	AWS     Cloud = "AWS"
	Google  Cloud = "Google Cloud"
)

// CheckCloud refuses settings that a program on this cloud cannot apply. Otherwise it would ignore them and connect to the
// database in another way.
func (s Settings) CheckCloud(on Cloud) error {
	var errs []error
	refuse := func(set bool, name string, cloud Cloud) {
		if set && cloud != on {
			errs = append(errs, fmt.Errorf("%s: is for programs on %s, and this one is not", name, cloud))
		}
	}
	refuse(s.RDSIAM, "BELFRY_RDS_IAM", AWS)
	if s.TickIdle > 0 && on == NoCloud {
		errs = append(errs, errors.New("BELFRY_TICK_IDLE: is for tick functions, which something invokes again and again"))
	}
	refuse(s.CloudSQLInstance != "", "BELFRY_CLOUDSQL_INSTANCE", Google)
	return errors.Join(errs...)
}

// cloudSQLName is PROJECT:REGION:INSTANCE; the project of an organisation is DOMAIN:PROJECT.
var cloudSQLName = regexp.MustCompile(`^([a-z0-9.-]+:)?[a-z0-9-]+:[a-z0-9-]+:[a-z0-9-]+$`)

func (s Settings) checkCloudSQL(bad tellFault) {
	if s.CloudSQLInstance != "" && !cloudSQLName.MatchString(s.CloudSQLInstance) {
		bad("BELFRY_CLOUDSQL_INSTANCE", "is %q, want PROJECT:REGION:INSTANCE", s.CloudSQLInstance)
	}
	if s.CloudSQLIAM && s.CloudSQLInstance == "" {
		bad("BELFRY_CLOUDSQL_IAM", "is true, and BELFRY_CLOUDSQL_INSTANCE is not set")
	}
	switch s.CloudSQLIP {
	case "public", "private", "psc":
	default:
		bad("BELFRY_CLOUDSQL_IP", "is %q, want public, private or psc", s.CloudSQLIP)
	}
}
