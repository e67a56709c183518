package solo

import (
	"errors"
	"flag"
	"net"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host/node"
)

// All are the roles of a process that does everything.
var All = node.Roles{API: true, Tick: true, Worker: true}

// Options are what the command line says, over what the environment says.
type Options struct {
	Settings boot.Settings
	Roles    node.Roles
}

// Read reads the environment, for a program that does everything and stops within two seconds.
func Read() (Options, error) {
	settings, err := boot.ReadSettings()
	if err == nil {
		err = settings.CheckCloud(boot.NoCloud)
	}
	settings.StopGrace = min(settings.StopGrace, time.Second)
	return Options{Settings: settings, Roles: All}, err
}

// Flags declares the flags that each program has.
func (o *Options) Flags(f *flag.FlagSet) {
	f.StringVar(&o.Settings.Addr, "addr", o.Settings.Addr, "address the API listens on; port 0 takes a free one")
	f.IntVar(&o.Settings.Workers, "workers", o.Settings.Workers, "jobs run at once")
	f.DurationVar(&o.Settings.Tick, "tick", o.Settings.Tick, "period of the tick")
}

// Check holds the settings against their rules. Faults of settings that a flag has set bear the flag's name.
func (o *Options) Check(f *flag.FlagSet) error {
	err := o.Settings.Check()
	if err == nil {
		return nil
	}
	text := err.Error()
	f.Visit(func(given *flag.Flag) {
		if name := settingOf[given.Name]; name != "" {
			text = strings.ReplaceAll("\n"+text, "\n"+name+": ", "\n-"+given.Name+": ")[1:]
		}
	})
	return errors.New(text)
}

// settingOf are the settings that a flag goes before.
var settingOf = map[string]string{"addr": "BELFRY_ADDR", "database-url": "BELFRY_DATABASE_URL", "workers": "BELFRY_WORKERS", "tick": "BELFRY_TICK"}

// ThisMachine reports whether webhooks may begin to reach receivers on this machine without a setting: all roles are in
// this process, its API listens on loopback, and no setting says that others may call it. See boot.ThisMachine.
func (o *Options) ThisMachine() bool {
	host, _, err := net.SplitHostPort(o.Settings.Addr)
	ip := net.ParseIP(host)
	loopback := err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
	return loopback && o.Roles == All && len(o.Settings.Tokens) == 0 && !o.Settings.Insecure
}
