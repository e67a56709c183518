package scenario

import "github.com/belfry-dev/belfry/bench/system"

func drainTenants() Scenario {
	const river, none, many = "River, which has no tenants", "Belfry, no tenants", "Belfry, 20,000 tenants"
	return Scenario{
		Name:  "drain-tenants",
		Title: "Drain due jobs of 20,000 tenants, round robin by tenant, default settings",
		Full:  Size{Jobs: 100_000},
		Quick: Size{Jobs: 20_000},
		Tiny:  Size{Jobs: 500},
		Cases: []Case{
			{Label: river, System: system.River},
			{Label: none, System: system.Belfry},
			{Label: many, System: system.Belfry, Tenants: 20_000},
		},
		Lines: []Line{
			{Text: "drain 100k jobs of 20,000 tenants (River: no tenants)", Metric: JobsPerSecond, Ours: many, Against: river},
			{Text: "the same against Belfry without tenants", Metric: JobsPerSecond, Ours: many, Against: none},
		},
		Measure: drain,
	}
}
