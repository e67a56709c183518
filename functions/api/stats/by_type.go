package stats

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// maxTypes bounds how many types are told apart, in statistics and metrics.
const maxTypes = 500

// otherTypes stands for all types beyond these. No type has such a name.
const otherTypes = "(other)"

// typesOf tells what happened in the window, and which types have workers or need one.
func typesOf(s core.Stats) []TypeStats {
	sums := sumTypes(s.Rollups)
	for _, h := range s.Handlers {
		sumType(sums, h.Type, TypeStats{Workers: h.N})
	}
	for _, u := range s.UnhandledTypes {
		sumType(sums, u.Type, TypeStats{Unhandled: u.N})
	}
	return boundTypes(sums)
}

// totalsOf tells what happened ever, of types that were at work of late.
func totalsOf(s core.Stats) []TypeStats { return boundTypes(sumTypes(s.Totals)) }

// sumTypes adds the priorities of each type up. Rows of type "" are sums of idle types, which are told apart no more.
func sumTypes(rollups []core.Rollup) map[string]TypeStats {
	sums := map[string]TypeStats{}
	for _, r := range rollups {
		if r.Type != "" {
			sumType(sums, r.Type, TypeStats{
				Starts: r.Starts, Done: r.Done, Failed: r.Failed, Retried: r.Retried, Cancelled: r.Cancelled, Lost: r.Lost, Snoozed: r.Snoozed, Strayed: r.Strayed,
			})
		}
	}
	return sums
}

func sumType(sums map[string]TypeStats, name string, more TypeStats) {
	name = strings.ToValidUTF8(name, "\uFFFD")
	t := sums[name]
	sums[name] = TypeStats{
		Type: name, Starts: t.Starts + more.Starts, Done: t.Done + more.Done, Failed: t.Failed + more.Failed, Retried: t.Retried + more.Retried,
		Cancelled: t.Cancelled + more.Cancelled, Lost: t.Lost + more.Lost, Snoozed: t.Snoozed + more.Snoozed, Strayed: t.Strayed + more.Strayed,
		Workers: max(t.Workers, more.Workers), Unhandled: t.Unhandled + more.Unhandled,
	}
}

// boundTypes lists types in order of their names. Of more than maxTypes those with the most starts, or with jobs that nobody
// handles, are told apart.
func boundTypes(sums map[string]TypeStats) []TypeStats {
	types := slices.SortedFunc(maps.Values(sums), func(a, b TypeStats) int {
		return cmp.Or(-cmp.Compare(a.Unhandled, b.Unhandled), -cmp.Compare(a.Starts, b.Starts), cmp.Compare(a.Type, b.Type))
	})
	if types == nil {
		types = []TypeStats{}
	}
	others := map[string]TypeStats{}
	for _, t := range types[min(len(types), maxTypes):] {
		sumType(others, otherTypes, t)
	}
	types = types[:min(len(types), maxTypes)]
	slices.SortFunc(types, func(a, b TypeStats) int { return cmp.Compare(a.Type, b.Type) })
	for _, t := range others {
		types = append(types, t)
	}
	return types
}
