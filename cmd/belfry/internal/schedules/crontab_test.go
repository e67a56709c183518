package schedules

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// A line means what cron means by it, or is not taken for a reason that is true, or comes with a note.
func TestCrontabsAsCronReadsThem(t *testing.T) {
	for _, c := range []struct {
		text  string
		kind  cronKind
		want  string // cron|zone|user|command|stdin
		says  string // the fault, or a note
		fault bool
	}{
		{text: "0 1 * * * /bin/a", want: "0 1 * * *|||/bin/a|"},
		// The zone of commands is not that of times.
		{text: "TZ=Asia/Tokyo\n0 1 * * * /bin/a", want: "0 1 * * *|||/bin/a|"}, {text: "CRON_TZ=Europe/Berlin\nTZ=Asia/Tokyo\n0 1 * * * /bin/a", want: "0 1 * * *|Europe/Berlin||/bin/a|"},
		{text: "CRON_TZ = \"Europe/Berlin\"\n0 1 * * * /bin/a", want: "0 1 * * *|Europe/Berlin||/bin/a|"}, {text: "'CRON_TZ'='UTC'\n0 1 * * * /bin/a", want: "0 1 * * *|UTC||/bin/a|"},
		{text: "CRON_TZ=\n0 1 * * * /bin/a", says: "the CRON_TZ above it, on line 1, is empty", fault: true}, {text: "CRON_TZ=\"\"\n0 1 * * * /bin/a", says: "on line 1, is empty", fault: true},
		{text: "CRON_TZ=\nCRON_TZ=UTC\n0 1 * * * /bin/a", want: "0 1 * * *|UTC||/bin/a|"},
		// A step from one number.
		{text: "0/15 * * * * /bin/a", says: "minute: to cron 0/15 means 0 alone", fault: true}, {text: "0 2,4/6 * * * /bin/a", says: "hour: to cron 4/6 means 4 alone", fault: true}, {text: "0 0 * * mon/2 /bin/a", says: "day of week: to cron mon/2 means mon alone", fault: true},
		{text: "0-59/15 */2 1-7/2 * * /bin/a", want: "0-59/15 */2 1-7/2 * *|||/bin/a|"},
		// What cron does not log.
		{text: "-*/15 * * * * /bin/a", want: "*/15 * * * *|||/bin/a|", says: "keeps cron from logging"}, {text: "- 0 1 * * * /bin/a", want: "0 1 * * *|||/bin/a|", says: "keeps cron from logging"}, {text: "-@daily /bin/a", want: "@daily|||/bin/a|", says: "keeps cron from logging"},
		// Times with a name.
		{text: "@every 5m root /bin/a", kind: systemCrontab, says: "make a schedule with every: 5m", fault: true}, {text: "0 5 * * * -n root /bin/a", kind: systemCrontab, says: "options such as -n stand behind the user", fault: true},
		{text: "@every 5m /bin/a", says: "@every is not cron's: make a schedule with every: 5m", fault: true}, {text: "@every_minute /bin/a", says: "write * * * * *", fault: true}, {text: "@300 /bin/a", says: "@300 is FreeBSD's", fault: true},
		{text: "@noon /bin/a", says: "@noon is no time of cron's", fault: true}, {text: "@midnight /bin/a", want: "@midnight|||/bin/a|"}, {text: "@REBOOT /bin/a", says: "@reboot: a schedule follows", fault: true},
		{text: "0~30 1 * * * /bin/a", says: "minute: a ~ is a time that cron chooses by chance", fault: true},
		// Options before the command.
		{text: "0 1 * * * -n /bin/a -q", want: "0 1 * * *|||/bin/a -q|", says: "the options -n before its command"}, {text: "0 1 * * * -n -sq /bin/a", want: "0 1 * * *|||/bin/a|", says: "overlap: skip"},
		{text: "0 1 * * * root -n /bin/a", kind: systemCrontab, want: "0 1 * * *||root|/bin/a|", says: "the options -n"}, {text: "@daily\troot\t-q\t/bin/a", kind: systemCrontab, want: "@daily||root|/bin/a|", says: "the options -q"}, {text: "0 1 * * * -n", says: "no command stands behind", fault: true},
		// Users.
		{text: "17 * * * * root cd / && run-parts x", says: "its command begins with root, which is a user", fault: true}, {text: "@daily root /bin/a", says: "give --system", fault: true}, {text: "0 1 * * * www-data php x", says: "www-data", fault: true},
		{text: "0 1 * * * nobody", want: "0 1 * * *|||nobody|"}, {text: "17 * * * * root cd /", kind: surelyOwn, want: "17 * * * *|||root cd /|"}, {text: "17 * * * * root cd /", kind: systemCrontab, want: "17 * * * *||root|cd /|"},
		{text: "0 1 * * * mail -s x ops", want: "0 1 * * *|||mail -s x ops|"}, {text: "0 1 * * * python3 /opt/a.py", want: "0 1 * * *|||python3 /opt/a.py|"}, {text: "0 1 * * * /opt/a.sh full", kind: systemCrontab, says: "then leave out --system", fault: true},
		{text: "0 1 * * * root:wheel /bin/a", kind: systemCrontab, want: "0 1 * * *||root:wheel|/bin/a|"},
		// A field too many, or too few.
		{text: "0 0 1 * * * /bin/a", says: "its command would be * …: has the line a field too many?", fault: true}, {text: "0 30 2 * * 1-5 /bin/a", says: "a field too many", fault: true}, {text: "0 1 * * *", says: "no command stands behind 5 fields", fault: true},
		// As Quartz and Spring have them: names of days, L, and years.
		{text: "0 0 12 * * MON-FRI /bin/x", says: "its command would be MON-FRI …: has the line a field too many?", fault: true}, {text: "0 0 12 * * sun,Wednesday x", says: "a field too many", fault: true}, {text: "0 0 1 1 * L x", says: "would be L …", fault: true},
		{text: "0 0 12 1 * 6L x", says: "would be 6L …", fault: true}, {text: "0 0 12 ? * FRI#2 x", says: "would be FRI#2 …", fault: true}, {text: "0 0 12 ? * LW x", says: "a field too many", fault: true}, {text: "0 0 0 1 JAN 15W x", says: "a field too many", fault: true},
		{text: "0 0 * * * 2026 /bin/yr", says: "would be 2026 …", fault: true}, {text: "0 12 ? * 2-6 2027-2030 /bin/yr", says: "would be 2027-2030 …", fault: true}, {text: "0 12 ? * 2-6 2026/2 x", says: "a field too many", fault: true}, {text: "@daily MON x", says: "a field too many", fault: true},
		{text: "0 0 12 * * MON-FRI root /bin/x", kind: systemCrontab, says: "the user would be MON-FRI: has the line a field too many?", fault: true}, {text: "0 0 12 * * * root /bin/x", kind: systemCrontab, says: "a field too many", fault: true}, {text: "0 12 * * * jan /bin/x", kind: systemCrontab, want: "0 12 * * *||jan|/bin/x|"},
		{text: "0 1 * * * monit x", want: "0 1 * * *|||monit x|"}, {text: "0 1 * * * ls -L x", want: "0 1 * * *|||ls -L x|"}, {text: "0 1 * * * 7z a", want: "0 1 * * *|||7z a|"}, {text: "0 1 * * * 20260 x", want: "0 1 * * *|||20260 x|"},
		// A range that runs backwards.
		{text: "0 22-2 * * * x", says: "hour: 22-2 runs backwards: cron refuses it or never runs it, and here it goes on past the end: write 22-23,0-2 where", fault: true}, {text: "5-1 * * * * x", says: "minute: 5-1 runs backwards", fault: true}, {text: "0 0 * nov-feb * y", says: "write nov-dec,jan-feb", fault: true},
		{text: "0 0 * * 6-1 z", says: "write 6,0-1", fault: true}, {text: "0 0 * * FRI-mon z", says: "write fri-sat,sun-mon", fault: true}, {text: "0 0 * * 7-1 z", says: "write 0-1 where", fault: true}, {text: "0 0 1-2,31-1 * * z", says: "day of month: 31-1 runs backwards", fault: true}, {text: "0 22-2/2 * * * x", says: "write each of its values", fault: true},
		{text: "0 0 * * 5-7 z", want: "0 0 * * 5-7|||z|"}, {text: "0 0 * * 1-1 z", want: "0 0 * * 1-1|||z|"}, {text: "0 0 1-31 jan-dec sun-sat z", want: "0 0 1-31 jan-dec sun-sat|||z|"}, {text: "0 99-2 * * * left to the server", want: "0 99-2 * * *|||left to the server|"},
		{text: "@every", says: "make a schedule with every", fault: true},
		// The command and its input.
		{text: "0 1 * * * a%b%c", want: "0 1 * * *|||a|b\nc\n"}, {text: "0 1 * * * a%b%", want: "0 1 * * *|||a|b\n"}, {text: "0 1 * * * a%", want: "0 1 * * *|||a|"}, {text: "0 1 * * * a%%", want: "0 1 * * *|||a|\n"}, {text: "0 1 * * * a%b%%", want: "0 1 * * *|||a|b\n\n"},
		{text: `0 1 * * * a \% b%c\%d`, want: "0 1 * * *|||a % b|c%d\n"}, {text: `0 1 * * * a \\% b`, want: "0 1 * * *|||a \\\\| b\n"}, {text: `0 1 * * * a \n \`, want: "0 1 * * *|||a \\n \\|"},
		{text: "  0\t1  *  * *   a  b  ", want: "0 1 * * *|||a  b|"}, {text: "0 1 * * * a # b", want: "0 1 * * *|||a # b|"}, {text: "0 1 * * * A=b c", want: "0 1 * * *|||A=b c|"},
	} {
		lines := slices.DeleteFunc(readCrontab(c.text, "", c.kind), func(l cronLine) bool { return l.variable })
		if c.fault && len(lines) > 1 {
			lines = lines[1:] // the variable that is at fault itself
		}
		if strings.HasPrefix(c.text, "CRON_TZ=\nCRON") {
			lines = lines[1:]
		}
		if len(lines) != 1 {
			t.Errorf("%q: %+v", c.text, lines)
			continue
		}
		l := lines[0]
		if got := strings.Join([]string{l.cron, l.zone, l.user, l.command, l.stdin}, "|"); (l.fault != "") != c.fault || !c.fault && got != c.want {
			t.Errorf("%q: %q, %q\nwant %q", c.text, got, l.fault, c.want)
		}
		if all := l.fault + strings.Join(l.notes, " "); !strings.Contains(all, c.says) || c.says == "" && all != "" {
			t.Errorf("%q: says %q, want %q", c.text, all, c.says)
		}
	}
	for line, name := range map[string]string{"A=b": "A", "A = 'b c'": "A", "MY-VAR=1": "MY-VAR", "1X=2": "1X", `"A B"=1`: "A B", "TZ=UTC": "TZ", "A=": "A", "PATH=/bin:/usr/bin": "PATH"} {
		if got := readCrontab(line, "", ownCrontab); len(got) != 1 || !got[0].variable || !strings.Contains(got[0].fault, "the variable "+name) {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

// Where one line surely names a user, those of the same form are suspected with it; the others are taken.
func TestLinesThatNameUsersAreSuspectedTogether(t *testing.T) {
	const text = "17 * * * * root /bin/a\n5 4 * * * jdoe /bin/a\n5 4 * * * deploy cd /srv && ./run\n5 4 * * * /bin/a -x\n5 4 * * * mail -s x\n"
	said := func(kind cronKind) (faults []string) {
		for _, l := range readCrontab(text, "", kind) {
			faults = append(faults, fmt.Sprintf("%s:%t", l.name, strings.Contains(l.fault, "give --system")))
		}
		return faults
	}
	if got, want := said(ownCrontab), []string{":true", ":true", ":true", "a:false", "mail:false"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	if got, want := said(surelyOwn), []string{"root:false", "jdoe:false", "deploy:false", "a:false", "mail:false"}; !slices.Equal(got, want) {
		t.Errorf("--system=false: %q, not %q", got, want)
	}
	alone := readCrontab("5 4 * * * belfry-nobody-has-this-name /bin/a", "", ownCrontab)
	if len(alone) != 1 || alone[0].fault != "" {
		t.Errorf("alone: %+v", alone)
	}
}

// What --out writes, apply reads as it was, whatever the commands look like to YAML.
func TestImportedFilesAreRead(t *testing.T) {
	a := &console.App{Env: os.LookupEnv, Now: time.Now, Errs: io.Discard, Address: nodetest.Start(t, "api")}
	imported := func(to string) string {
		t.Helper()
		var printed strings.Builder
		a.Out = &printed
		c := crontabCommand(a)
		c.SetArgs([]string{"-", "--type", "shell", "--out", to})
		if err := c.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return printed.String()
	}
	commands := []string{"yes", "NO", "~", "null", "true", "12:30", "01234", "1_000", "0x1F", "2026-03-01", ".5", "1e3", "-", "- a", "a: b", "a #b", "#", "'a", `"a`, "*a", "&a", "!a", "|", ">", "[a", "{a", "@a", "`a`", "=", "<<", "a\tb", "é😀", "\u2028x", "a\x1b[2Jb", "on", "a%6%", "x%- y%"}
	crontab := ""
	for _, command := range commands {
		crontab += "0 1 * * * " + command + "\n"
	}
	want := map[string]bool{}
	for _, l := range readCrontab(crontab, "", ownCrontab) {
		if l.fault != "" {
			t.Errorf("%+v", l)
		}
		want[l.command+"|"+l.stdin] = true
	}
	out := filepath.Join(t.TempDir(), "out.yaml")
	written := map[string]func() string{
		"YAML": func() string {
			imported(out)
			text, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		},
		"as JSON, which a terminal may show": func() string { return imported("-") },
	}
	for name, write := range written {
		a.In = strings.NewReader(crontab)
		got := map[string]bool{}
		text := write()
		file, err := read(t, text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		for _, s := range file.schedules {
			got[payloadOf(t, s)] = true
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: got %q\nwant %q", name, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}

func payloadOf(t *testing.T, s fileSchedule) string {
	t.Helper()
	var d struct {
		Payload struct{ Command, Stdin string }
	}
	if err := json.Unmarshal(s.definition, &d); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", s.definition, err))
	}
	return d.Payload.Command + "|" + d.Payload.Stdin
}

func FuzzReadCrontab(f *testing.F) {
	text, err := os.ReadFile("../../testdata/crontab")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), true)
	f.Add("@reboot\n% % %\nA=\n\"A\"=1\n* * * * * \\%\\\n", false)
	f.Fuzz(func(t *testing.T, text string, system bool) {
		names := map[string]bool{}
		kind := ownCrontab
		if system {
			kind = systemCrontab
		}
		for _, l := range readCrontab(text, "", kind) {
			if l.number < 1 || l.number > strings.Count(text, "\n")+1 || l.fault == "" && (l.name == "" || l.command == "" || names[l.name]) {
				t.Fatalf("%q: %+v", text, l)
			}
			names[l.name] = l.fault == ""
		}
	})
}
