package boot

import (
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
)

// otherVariables are read by the command line and are no settings.
var otherVariables = []string{"BELFRY_URL", "BELFRY_TOKEN", "BELFRY_PROFILE"}

// farthestSpelling is how many letters a variable's name may differ from a setting's to be taken for a mistake.
const farthestSpelling = 2

// WarnOfMisspelt logs each variable of the environment whose name is almost that of a setting: it has no effect. Others, which
// an orchestrator may set, such as BELFRY_PORT_8080_TCP, are left alone.
func WarnOfMisspelt(log *slog.Logger) {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if meant := settingMeant(name); meant != "" {
			log.Warn("a variable has no effect: no setting has its name", "variable", name, "nearest", meant)
		}
	}
}

// settingMeant returns the setting with the name nearest to name, or "" if name is a setting or none is near.
func settingMeant(name string) (nearest string) {
	upper := strings.ToUpper(name)
	if !strings.HasPrefix(upper, "BELFRY_") && !strings.HasPrefix(upper, "BELFRY-") || slices.Contains(otherVariables, name) {
		return ""
	}
	least := farthestSpelling + 1
	for field := range reflect.TypeFor[Settings]().Fields() {
		setting := field.Tag.Get("env")
		if setting == name {
			return ""
		}
		if d := spellingDistance(upper, setting); setting != "" && d < least {
			least, nearest = d, setting
		}
	}
	return nearest
}

// spellingDistance is the number of letters to add, remove or change to turn a into b (Levenshtein).
func spellingDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
